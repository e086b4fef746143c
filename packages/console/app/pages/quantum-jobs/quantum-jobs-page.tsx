import { getRouteApi } from "@tanstack/react-router";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { isFiltered, toCommand, toQuery } from "../../quantum/filter.ts";
import { Pager } from "../../quantum/pager.tsx";
import { JOB_STATE_WORDS } from "@platform/contract/quantum-api/states";
import { DataTable } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { createColumns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";

const route = getRouteApi("/in/o/$org/quantum-jobs");

/** The quantum jobs of the organisation, newest first. */
export function QuantumJobsPage() {
  const search = route.useSearch();
  const { slug } = useOrganisation();
  const query = toQuery(search);
  const list = useLoaded(q("listQuantumJobs", { query }), {
    refresh: ({ content }) =>
      content.some(({ status }) => !JOB_STATE_WORDS[status].isFinal)
        ? REFRESH_MS.unfinished
        : REFRESH_MS.list,
  });
  return (
    <>
      <PageHeader
        title="Quantum jobs"
        description="A quantum job is an execution of a backend: a circuit with its shots, or a problem of an annealer."
        actions={
          <>
            <CopyAs op="listQuantumJobs" request={{ query }} command={toCommand(query)} />
            <ButtonLink to="/o/$org/quantum-sessions" params={{ org: slug }} variant="default">
              Sessions
            </ButtonLink>
            <ButtonLink to="/o/$org/backends" params={{ org: slug }}>
              Backends
            </ButtonLink>
          </>
        }
      />
      <FilterBar search={search} />
      <DataTable
        label="Quantum jobs"
        columns={createColumns(slug)}
        rows={list.content}
        rowKey={({ id }) => id}
        empty={isFiltered(search) || (search.page ?? 1) > 1 ? <NoneMatch /> : <NoneYet />}
      />
      <Pager of={list} />
    </>
  );
}

function NoneMatch() {
  const { slug } = useOrganisation();
  return (
    <EmptyState
      title="No quantum job matches"
      action={
        <AppLink to="/o/$org/quantum-jobs" params={{ org: slug }} search={{}}>
          Show all
        </AppLink>
      }
    >
      There may be jobs that these filters leave out, or that stand on another page.
    </EmptyState>
  );
}

function NoneYet() {
  const { slug } = useOrganisation();
  return (
    <EmptyState
      title="No quantum jobs yet"
      action={
        <AppLink to="/o/$org/backends" params={{ org: slug }}>
          Choose a backend to run a circuit on
        </AppLink>
      }
      command="platform quantum run bell.qasm --backend sim.statevector --shots 1000"
    >
      Jobs are started here, by the SDK from Python, and on the command line.
    </EmptyState>
  );
}
