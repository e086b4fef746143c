import { getRouteApi } from "@tanstack/react-router";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { RunCircuit } from "../../forms/run-circuit.tsx";
import { BackendStateBadge } from "../../quantum/states.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { BackendActions } from "./backend-actions.tsx";
import { BackendOverview } from "./backend-overview.tsx";
import { Calibration } from "./calibration.tsx";
import { Configuration } from "./configuration.tsx";
import { Programs } from "./programs.tsx";

const route = getRouteApi("/in/o/$org/backends/$id");

/** One backend: how it is, what jobs may ask of it, and a job for it. */
export function BackendPage() {
  const { id } = route.useParams();
  const { session } = route.useSearch();
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const request = { params: { backendId: id } };
  const backend = useLoaded(q("getBackend", request), { refresh: REFRESH_MS.list });
  const load = useLoaded(q("getBackendStatus", request), { refresh: REFRESH_MS.list });
  const what = backend.type === "ANNEALER" ? "Sample a problem" : "Run a circuit";
  const tabs = [
    { id: "overview", label: "Overview", content: () => <BackendOverview backend={backend} load={load} /> },
    { id: "configuration", label: "Configuration", content: () => <Configuration of={backend} /> },
    ...(backend.has_calibration
      ? [{ id: "calibration", label: "Calibration", content: () => <Calibration id={id} /> }]
      : []),
    { id: "programs", label: "From a program", content: () => <Programs backend={backend} /> },
  ];
  const openJob = ({ id: job }: { readonly id: string }) => {
    const to = "/o/$org/quantum-jobs/$id";
    void navigate({ to, params: { org, id: job }, search: {}, ignoreBlocker: true });
  };
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
        actions={<BackendActions backend={backend} what={what} />}
      />
      <RoutedTabs label="Parts of the backend" tabs={tabs} />
      <RoutedDialog title={`${what} on ${id}`} when={["new", "job"]} width={720}>
        {(close) => <RunCircuit backend={backend} sessionId={session} onCancel={close} onStarted={openJob} />}
      </RoutedDialog>
    </>
  );
}
