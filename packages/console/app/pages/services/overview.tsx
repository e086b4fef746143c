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
  const kept = useFetched(q("getConfiguration", {})).data?.kept;
  const resultDays = service.resultDays ?? kept?.resultDays;
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
          "Results are kept": sayKept(service.resultDays, resultDays),
          "Logs are kept": sayKept(
            service.logDays,
            kept === undefined ? undefined : Math.min(kept.logDays, resultDays ?? kept.logDays),
          ),
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

/** @param own days that the service says; null: it says none @param platform days otherwise; undefined: not known yet */
function sayKept(own: number | null, platform: number | undefined): string {
  const days = own ?? platform;
  if (days === undefined) return "as the operator sets";
  return `for ${days} ${days === 1 ? "day" : "days"}${own === null ? ", as the operator sets" : ""}`;
}
