import { getRouteApi } from "@tanstack/react-router";
import type { QuantumWorkload } from "@platform/contract/quantum-api/sessions";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { shortenId } from "../../execution/kinds.ts";
import { OpenSession } from "../../forms/open-session.tsx";
import { toSessionsQuery } from "../../quantum/filter.ts";
import { Pager } from "../../quantum/pager.tsx";
import { SessionStateBadge } from "../../quantum/states.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";

const route = getRouteApi("/in/o/$org/quantum-sessions");

/** Sessions of the organisation, newest first. */
export function SessionsPage() {
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const query = toSessionsQuery(route.useSearch());
  const list = useLoaded(q("listQuantumWorkloads", { query }), { refresh: REFRESH_MS.list });
  const open = ({ id }: { readonly id: string }) => {
    const to = "/o/$org/quantum-sessions/$id";
    void navigate({ to, params: { org, id }, search: {}, ignoreBlocker: true });
  };
  return (
    <>
      <PageHeader
        title="Quantum sessions"
        above={[
          <AppLink key="jobs" to="/o/$org/quantum-jobs" params={{ org }}>
            Quantum jobs
          </AppLink>,
        ]}
        description="A session keeps one version of a backend for its jobs, and lets them go before other jobs of the organisation that wait."
        actions={
          <>
            <CopyAs op="listQuantumWorkloads" request={{ query }} />
            <OpenButton op="createQuantumSession" set={{ new: "session" }}>
              Open a session
            </OpenButton>
          </>
        }
      />
      <DataTable
        label="Quantum sessions"
        columns={createColumns(org)}
        rows={list.content}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title={query.page === 0 ? "No quantum sessions yet" : "No session stands on this page"}
            command="platform quantum open --backend sim.statevector --ttl 3600"
          >
            Programs that send many jobs one after another open a session first: as long as it is open, its
            jobs run on the same version of the backend. Nothing has to be in a session.
          </EmptyState>
        }
      />
      <Pager of={list} one="session" many="sessions" />
      <RoutedDialog title="Open a session" when={["new", "session"]}>
        {(close) => <OpenSession onOpened={open} onCancel={close} />}
      </RoutedDialog>
    </>
  );
}

function createColumns(org: string): readonly Column<QuantumWorkload>[] {
  return [
    {
      id: "state",
      label: "State",
      cell: ({ status }) => <SessionStateBadge status={status} />,
    },
    {
      id: "session",
      label: "Session",
      cell: ({ id }) => (
        <AppLink to="/o/$org/quantum-sessions/$id" params={{ org, id }} title={id} className="mono">
          {shortenId(id)}
        </AppLink>
      ),
    },
    { id: "backend", label: "Backend", cell: ({ backend_id: id }) => <span className="mono">{id}</span> },
    {
      id: "jobs",
      label: "Jobs",
      align: "end",
      cell: ({ job_count: jobs }) => (jobs === null ? "-" : formatCount(jobs)),
    },
    { id: "opened", label: "Opened", cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: "ran",
      label: "Its jobs ran",
      align: "end",
      cell: ({ usage_time_millis: ran }) => (ran === null ? "-" : formatDuration(ran)),
      priority: 3,
    },
  ];
}
