import { Skeleton, Stack, Text } from "@mantine/core";
import type { Service } from "@platform/contract/platform-api/services";
import { q, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { Time } from "../../ui/time.tsx";
import { PUBLICATION_WORDS } from "./publication.ts";

/** What the newest version says of itself. */
export function Overview({ service }: { readonly service: Service }) {
  const { slug: org } = useOrganisation();
  const { key, latestVersion } = service;
  return (
    <Stack>
      <Facts
        of={{
          Key: <CopyLine text={key} what="key of the service" />,
          "Latest version":
            latestVersion === null ? (
              "none is live"
            ) : (
              <AppLink
                to="/o/$org/services/$key/versions/$version"
                params={{ org, key, version: latestVersion }}
              >
                {latestVersion}
              </AppLink>
            ),
          "Who can subscribe": PUBLICATION_WORDS[service.publication ?? "none"],
          "Results are kept": formatDays(service.resultDays),
          "Logs are kept": formatDays(service.logDays),
          Created: <Time at={service.createdAt} />,
        }}
      />
      {latestVersion === null ? (
        <EmptyState
          title="No live version"
          action={
            <OpenButton op="createVersion" set={{ new: "version" }}>
              Upload a project
            </OpenButton>
          }
          command="platform up"
        >
          Nothing can be started until a version has been built.
        </EmptyState>
      ) : (
        <Readme serviceKey={key} version={latestVersion} />
      )}
    </Stack>
  );
}

function Readme({ serviceKey, version }: { readonly serviceKey: string; readonly version: string }) {
  const { data, error, retry } = useFetched(q("getVersion", { params: { key: serviceKey, version } }));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton height={200} />;
  if (data.readme === "")
    return (
      <Text c="dimmed">
        The project describes itself nowhere: descriptionFile of platform.json names a file of Markdown.
      </Text>
    );
  return <Markdown text={data.readme} />;
}

function formatDays(days: number | null): string {
  return days === null ? "as the operator sets" : `for ${days} ${days === 1 ? "day" : "days"}`;
}
