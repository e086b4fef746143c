import { getRouteApi } from "@tanstack/react-router";
import { toSdkProgram } from "../../quantum/programs.ts";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { RunCircuit } from "../../forms/run-circuit.tsx";
import { listTextFormats } from "../../quantum/circuits.ts";
import { BackendStateBadge } from "../../quantum/states.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { BackendOverview } from "./backend-overview.tsx";
import { Calibration } from "./calibration.tsx";
import { Configuration } from "./configuration.tsx";
import { Programs } from "./programs.tsx";

const route = getRouteApi("/in/o/$org/backends/$id");

/** One backend: how it is, what jobs may ask of it, and a job for it. */
export function BackendPage() {
  const { id } = route.useParams();
  const { slug: org, id: organizationId } = useOrganisation();
  const navigate = route.useNavigate();
  const request = { params: { backendId: id } };
  const backend = useLoaded(q("getBackend", request), { refresh: REFRESH_MS.list });
  const load = useLoaded(q("getBackendStatus", request), { refresh: REFRESH_MS.list });
  const isAnnealer = backend.type === "ANNEALER";
  const what = isAnnealer ? "Sample a problem" : "Run a circuit";
  return (
    <>
      <PageHeader
        title={id}
        above={[
          <AppLink key="all" to="/o/$org/backends" params={{ org }}>
            Backends
          </AppLink>,
        ]}
        badge={<BackendStateBadge status={load.status} />}
        description={backend.display_name}
        actions={
          <>
            <CopyAs
              op="getBackend"
              request={request}
              id={id}
              command={`platform backends show ${id}`}
              more={[
                [
                  "Job by the SDK",
                  toSdkProgram(backend, { origin: globalThis.location.origin, organizationId }),
                ],
              ]}
            />
            <ButtonLink to="/o/$org/quantum-jobs" params={{ org }} search={{ backend: id }} variant="default">
              Its jobs
            </ButtonLink>
            <OpenButton
              op="createQuantumJob"
              set={{ new: "job" }}
              unless={
                listTextFormats(backend).length === 0 ? "It reads no text: the SDK sends what it runs." : null
              }
            >
              {what}
            </OpenButton>
          </>
        }
      />
      <RoutedTabs
        label="Parts of the backend"
        tabs={[
          {
            id: "overview",
            label: "Overview",
            content: () => <BackendOverview backend={backend} load={load} />,
          },
          { id: "configuration", label: "Configuration", content: () => <Configuration of={backend} /> },
          ...(backend.has_calibration
            ? [{ id: "calibration", label: "Calibration", content: () => <Calibration id={id} /> }]
            : []),
          { id: "programs", label: "From a program", content: () => <Programs backend={backend} /> },
        ]}
      />
      <RoutedDialog title={`${what} on ${id}`} when={["new", "job"]} width={720}>
        {(close) => (
          <RunCircuit
            backend={backend}
            onCancel={close}
            onStarted={({ id: job }) =>
              void navigate({
                to: "/o/$org/quantum-jobs/$id",
                params: { org, id: job },
                search: {},
                ignoreBlocker: true,
              })
            }
          />
        )}
      </RoutedDialog>
    </>
  );
}
