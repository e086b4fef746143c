import { Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { QuantumSession } from "@platform/contract/quantum-api/sessions";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { toQuery } from "../../quantum/filter.ts";
import { Pager } from "../../quantum/pager.tsx";
import { SessionStateBadge } from "../../quantum/states.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";
import { createColumns } from "../quantum-jobs/columns.tsx";
import { SessionActions } from "./session-actions.tsx";

const route = getRouteApi("/in/o/$org/quantum-sessions/$id");

/** One session, and its jobs. */
export function SessionPage() {
  const { id } = route.useParams();
  const { slug: org } = useOrganisation();
  const query = toQuery(route.useSearch());
  const session = useLoaded(q("getQuantumSession", { params: { id } }), {
    refresh: ({ status }) => (status === "ACTIVE" ? REFRESH_MS.unfinished : REFRESH_MS.list),
  });
  const jobs = useLoaded(q("listQuantumSessionJobs", { params: { id }, query }), {
    refresh: session.status === "ACTIVE" ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  return (
    <>
      <PageHeader
        title={`Session on ${session.backend_id}`}
        above={[
          <AppLink key="jobs" to="/o/$org/quantum-jobs" params={{ org }}>
            Quantum jobs
          </AppLink>,
          <AppLink key="all" to="/o/$org/quantum-sessions" params={{ org }}>
            Sessions
          </AppLink>,
        ]}
        badge={<SessionStateBadge status={session.status} />}
        description={<span className="mono">{id}</span>}
        actions={<SessionActions session={session} />}
      />
      <Facts of={describe(session, org)} />
      <Title order={2} fz="lg" mt="xl" mb="sm">
        Its jobs
      </Title>
      <DataTable
        label="Jobs of the session"
        columns={createColumns(org)}
        rows={jobs.content}
        rowKey={({ id: job }) => job}
        empty={
          <EmptyState
            title="No jobs on this page"
            {...(session.accept_jobs
              ? {
                  command: `platform quantum run bell.qasm --backend ${session.backend_id} --session ${id}`,
                }
              : {})}
          >
            Jobs are in a session where their request names it.
          </EmptyState>
        }
      />
      <Pager of={jobs} />
    </>
  );
}

function describe(session: QuantumSession, org: string) {
  const { backend_id: backend, closed_at: closed, started_at: started, metadata } = session;
  const notes = JSON.stringify(metadata);
  return {
    Backend: (
      <AppLink to="/o/$org/backends/$id" params={{ org, id: backend }} className="mono">
        {backend}
      </AppLink>
    ),
    "Version of the backend": session.backend_version,
    Opened: <Time at={session.created_at} as="exact" />,
    "First job began": started === null ? undefined : <Time at={started} as="exact" />,
    ...(closed === null
      ? { "Open until": <Time at={session.expires_at} as="exact" /> }
      : { Closed: <Time at={closed} as="exact" /> }),
    Jobs: formatCount(session.job_count),
    "They ran": session.job_count === 0 ? undefined : formatDuration(session.usage_time_millis),
    "Opened by": session.sdk_provider ?? undefined,
    Notes:
      notes === "{}" ? undefined : (
        <span className="mono" style={{ overflowWrap: "anywhere" }}>
          {notes}
        </span>
      ),
  };
}
