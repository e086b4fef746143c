import { Badge, Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import type { ItemOf } from "../../api/client.ts";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Time } from "../../ui/time.tsx";
import { toCommandLine } from "../../util/command-line.ts";
import { formatBytes, formatCount } from "../../util/units.ts";
import { OperatorFrame } from "./operator-frame.tsx";

const route = getRouteApi("/in/operator/organizations");

type Organisation = ItemOf<"listAllOrganizations">;

/** All organisations of the platform: numbers, and nothing of what they have. */
export function OrganisationsPage() {
  const query = useDeferredValue(route.useSearch());
  const setSearch = useSetSearch();
  const organisations = useLoadedPages(pages("listAllOrganizations", { query }));
  return (
    <OperatorFrame
      title="Organisations"
      description="Names and numbers. Operators are no members by that, and see nothing of what organisations have."
      actions={
        <CopyAs
          op="listAllOrganizations"
          request={{ query }}
          command={toCommandLine("platform operator organizations", {}, query.q)}
        />
      }
    >
      <SearchField
        label="Name contains"
        mb="sm"
        maw={320}
        placeholder="Name contains"
        maxLength={SEARCH_LIMITS.operator}
        words={query.q}
        onSearch={(q) => setSearch({ q })}
      />
      <DataTable
        label="Organisations"
        columns={COLUMNS}
        rows={organisations}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No organisation matches">None has this text in its name.</EmptyState>}
      />
    </OperatorFrame>
  );
}

const COLUMNS: readonly Column<Organisation>[] = [
  {
    id: "name",
    label: "Name",
    cell: ({ name, slug, isPersonal }) => (
      <div>
        <Group gap={6}>
          {name}
          {isPersonal && <Badge>Personal</Badge>}
        </Group>
        <span className="mono">{slug}</span>
      </div>
    ),
  },
  { id: "members", label: "Members", align: "end", cell: ({ members }) => formatCount(members) },
  { id: "services", label: "Services", align: "end", cell: ({ services }) => formatCount(services) },
  {
    id: "applications",
    label: "Applications",
    align: "end",
    cell: ({ applications }) => formatCount(applications),
  },
  { id: "pools", label: "Data pools", align: "end", cell: ({ poolBytes }) => formatBytes(poolBytes) },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
];
