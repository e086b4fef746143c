import { getRouteApi } from "@tanstack/react-router";
import type { DataPool } from "@platform/contract/platform-api/data-pools";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CreateDataPool } from "../../forms/create-data-pool.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes, formatCount } from "../../util/units.ts";

const route = getRouteApi("/in/o/$org/data-pools");

const NewButton = () => (
  <OpenButton op="createDataPool" set={{ new: "pool" }}>
    New data pool
  </OpenButton>
);

/** Files that executions read. */
export function DataPoolsPage() {
  const { slug: org, id } = useOrganisation();
  const navigate = route.useNavigate();
  const pools = useLoadedPages(pages("listDataPools", {}), { refresh: REFRESH_MS.list });
  return (
    <>
      <PageHeader
        title="Data pools"
        description="A data pool is a collection of files that executions read, so that large inputs are sent once."
        actions={
          <>
            <CopyAs op="listDataPools" request={{}} command="platform pools ls" />
            <NewButton />
          </>
        }
      />
      <DataTable
        label="Data pools"
        columns={createColumns(org, id)}
        rows={pools}
        rowKey={(pool) => pool.id}
        empty={
          <EmptyState title="No data pools yet" action={<NewButton />} command="platform pools create NAME">
            Upload a file once, and start any number of executions with a reference to it in place of the
            input.
          </EmptyState>
        }
      />
      <RoutedDialog title="New data pool" when={["new", "pool"]}>
        {(close) => (
          <CreateDataPool
            onCancel={close}
            onCreated={(pool) =>
              void navigate({
                to: "/o/$org/data-pools/$id",
                params: { org, id: pool.id },
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

function createColumns(org: string, organizationId: string): readonly Column<DataPool>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ id, name }) => (
        <AppLink to="/o/$org/data-pools/$id" params={{ org, id }}>
          {name}
        </AppLink>
      ),
    },
    {
      id: "description",
      label: "Description",
      cell: ({ description }) => (description === "" ? "-" : description),
      priority: 3,
    },
    { id: "files", label: "Files", align: "end", cell: ({ fileCount }) => formatCount(fileCount) },
    { id: "bytes", label: "Size", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
    {
      id: "owner",
      label: "Belongs to",
      cell: (pool) => (pool.organizationId === organizationId ? "this organisation" : pool.organizationName),
      priority: 3,
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  ];
}
