import { Stack } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { isNotFound } from "../../api/explain-error.ts";
import { q, useChange, useFetched, useLoaded } from "../../api/queries.ts";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Failure } from "../../ui/failure.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { BuildLog } from "./build-log.tsx";
import { DownloadArchive } from "./download-archive.tsx";
import { VersionCallers } from "./version-callers.tsx";
import { VersionChanges } from "./version-changes.tsx";
import { Requirements, Schemas, VersionFacts } from "./version-details.tsx";

const route = getRouteApi("/in/o/$org/services/$key/versions/$version");

/** One version, or the build that is to become one. */
export function VersionPage() {
  const params = route.useParams();
  const { org, key, version } = params;
  const service = useLoaded(q("getService", { params: { key } }));
  const { data: details, error, retry } = useFetched(q("getVersion", { params: { key, version } }));
  const isMissing = error !== null && isNotFound(error);
  return (
    <>
      <PageHeader
        title={`${service.name} ${version}`}
        above={[
          <AppLink key="all" to="/o/$org/services" params={{ org }}>
            Services
          </AppLink>,
          <AppLink key="service" to="/o/$org/services/$key" params={{ org, key }}>
            {service.name}
          </AppLink>,
        ]}
        actions={
          details === undefined ? (
            <CopyAs op="getBuild" request={{ params: { key, version } }} id={`${key} ${version}`} />
          ) : (
            <Actions org={org} serviceKey={key} details={details} />
          )
        }
      />
      {error !== null && !isMissing && <Failure error={error} retry={retry} />}
      <Stack>
        {details !== undefined && <VersionFacts serviceKey={key} of={details} />}
        <RoutedTabs
          label={`Parts of version ${version}`}
          tabs={[
            { id: "build", label: "Build", content: () => <BuildLog serviceKey={key} version={version} /> },
            ...(details === undefined
              ? []
              : [
                  { id: "schemas", label: "Input and result", content: () => <Schemas of={details} /> },
                  {
                    id: "changes",
                    label: "Changes",
                    content: () => <VersionChanges serviceKey={key} of={details} />,
                  },
                  { id: "requirements", label: "Requirements", content: () => <Requirements of={details} /> },
                  {
                    id: "callers",
                    label: "Callers",
                    content: () => <VersionCallers serviceKey={key} version={version} />,
                  },
                ]),
          ]}
        />
      </Stack>
    </>
  );
}

interface ActionsProps {
  readonly org: string;
  readonly serviceKey: string;
  readonly details: VersionDetails;
}

function Actions({ org, serviceKey, details }: ActionsProps) {
  const { version, status } = details;
  const params = { key: serviceKey, version };
  const retire = useChange("retireVersion", {
    done: "Retired.",
    refresh: ["getVersion", "listVersions", "getService", "listServices"],
  });
  return (
    <>
      <CopyAs
        op="getVersion"
        request={{ params }}
        id={`${serviceKey} ${version}`}
        command={`platform versions ${serviceKey} --version ${version}`}
      />
      <DownloadArchive serviceKey={serviceKey} version={version} />
      {status === "LIVE" && (
        <ConfirmButton
          op="retireVersion"
          label="Retire"
          question={`Retire version ${version}?`}
          run={() => retire.run({ params })}
        >
          It accepts no new executions. Those that run are finished, and results stay. There is no way back.
        </ConfirmButton>
      )}
      {status === "LIVE" && (
        <Can op="startJob">
          <ButtonLink to="/o/$org/services/$key/try" params={{ org, key: serviceKey }} search={{ version }}>
            Try it
          </ButtonLink>
        </Can>
      )}
    </>
  );
}
