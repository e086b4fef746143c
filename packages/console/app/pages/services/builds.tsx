import type { BuildSummary } from "@platform/contract/platform-api/builds";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { StateBadge } from "../../execution/state-badge.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Time } from "../../ui/time.tsx";
import { createVersionColumn } from "./version-column.tsx";

/** What was uploaded, and what became of it. */
export function Builds({ serviceKey }: { readonly serviceKey: string }) {
  const { slug } = useOrganisation();
  const builds = useLoadedPages(pages("listBuilds", { params: { key: serviceKey } }), {
    refresh: (items) => (items.some(({ terminal }) => !terminal) ? REFRESH_MS.unfinished : REFRESH_MS.list),
  });
  return (
    <DataTable
      label="Builds"
      columns={createColumns(slug, serviceKey)}
      rows={builds}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="No builds" command="platform up">
          Each upload of a project is built. Builds go with their logs.
        </EmptyState>
      }
    />
  );
}

function createColumns(org: string, key: string): readonly Column<BuildSummary>[] {
  return [
    createVersionColumn(org, key),
    { id: "status", label: "State", cell: ({ status, code }) => <StateBadge status={status} code={code} /> },
    { id: "by", label: "By", cell: ({ createdBy }) => createdBy ?? "-", priority: 3 },
    { id: "created", label: "Uploaded", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
