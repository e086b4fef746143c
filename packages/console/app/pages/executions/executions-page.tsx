import { Group, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { isFiltered, toCommand, toFilter } from "../../execution/filter.ts";
import { DataTable } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { useOrganisation } from "../../api/scope.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { createColumns } from "../../execution/columns.tsx";
import { CancelAll } from "./cancel-all.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { Histogram } from "./histogram.tsx";
import { KindTabs } from "./kind-tabs.tsx";
import { SaveExecutions } from "./save-csv.tsx";

const route = getRouteApi("/in/o/$org/executions");

/** All executions that concern the organisation: its jobs, what its applications start, and what others start of its services. */
export function ExecutionsPage() {
  const search = route.useSearch();
  const { slug } = useOrganisation();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter = toFilter(search);
  const list = useLoadedPages(pages("listExecutions", { query: filter }), {
    refresh: (items) => (items.some(({ terminal }) => !terminal) ? REFRESH_MS.unfinished : REFRESH_MS.list),
  });
  // What a filter hides is not selected any more: nobody sees it.
  const shown = new Set(list.items.map(({ id }) => id).filter((id) => selected.has(id)));
  return (
    <>
      <PageHeader
        title="Executions"
        actions={
          <>
            <CancelAll search={search} list={list} />
            <SaveExecutions filter={filter} />
            <CopyAs op="listExecutions" request={{ query: filter }} command={toCommand(filter)} />
          </>
        }
      />
      <KindTabs kind={search.kind}>
        <FilterBar search={search} />
        <Histogram filter={filter} />
        {list.items.length > 0 && (
          <BulkActions kind={search.kind} selected={shown} onDone={() => setSelected(new Set())} />
        )}
        <DataTable
          label="Executions"
          columns={createColumns(slug)}
          rows={list}
          rowKey={({ id }) => id}
          selection={{ keys: shown, change: setSelected }}
          empty={isFiltered(search) ? <NoneMatch /> : <NoneYet kind={search.kind} />}
        />
        {list.items.length > 0 && !list.hasMore && (
          <Text c="dimmed" fz="sm" mt="xs">
            This is the end of the list: executions are removed when the time for which their service keeps
            them is over.
          </Text>
        )}
      </KindTabs>
    </>
  );
}

function NoneMatch() {
  const { slug } = useOrganisation();
  const { kind } = route.useSearch();
  return (
    <EmptyState
      title="No execution matches"
      action={
        <AppLink to="/o/$org/executions" params={{ org: slug }} search={kind === undefined ? {} : { kind }}>
          Show all
        </AppLink>
      }
    >
      There may be executions that these filters leave out.
    </EmptyState>
  );
}

const WHY_NONE = {
  all: "An execution is one run of a service. Jobs are started by members, others by applications that subscribe to a service.",
  job: "A job is started by a member, without an application and a subscription.",
  outgoing: "These are started by the organisation's applications, with their access keys.",
  incoming: "These are started by applications that subscribe to the organisation's services.",
} as const;

function NoneYet({ kind }: { readonly kind: "job" | "outgoing" | "incoming" | undefined }) {
  const { slug } = useOrganisation();
  return (
    <EmptyState
      title="No executions yet"
      {...(kind === undefined || kind === "job" ? { command: "platform run" } : {})}
      action={
        <Group>
          <AppLink to="/o/$org/applications" params={{ org: slug }}>
            Applications and their subscriptions
          </AppLink>
        </Group>
      }
    >
      {WHY_NONE[kind ?? "all"]}
    </EmptyState>
  );
}
