import { getRouteApi } from "@tanstack/react-router";
import type { Application } from "@platform/contract/platform-api/applications";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { pages, q, REFRESH_MS, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CreateApplication } from "../../forms/create-application.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Time } from "../../ui/time.tsx";

const route = getRouteApi("/in/o/$org/applications");

const NewButton = () => (
  <OpenButton op="createApplication" set={{ new: "application" }}>
    New application
  </OpenButton>
);

/** Who calls services. */
export function ApplicationsPage() {
  const organisation = useOrganisation();
  const navigate = route.useNavigate();
  const applications = useLoadedPages(pages("listApplications", {}), { refresh: REFRESH_MS.list });
  const subscriptions = useLoaded(q("listSubscriptions", { query: { limit: MAX_PAGE_SIZE } }));
  return (
    <>
      <PageHeader
        title="Applications"
        description="An application is who calls services: it has access keys and subscriptions."
        actions={
          <>
            <CopyAs op="listApplications" request={{}} command="platform applications ls" />
            <NewButton />
          </>
        }
      />
      <DataTable
        label="Applications"
        columns={createColumns(organisation.slug, subscriptions.items)}
        rows={applications}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title="No applications yet"
            action={<NewButton />}
            command="platform applications create NAME"
          >
            An application is who calls: a program of yours, or a customer. Make one for each, so that keys
            and calls can be told apart.
          </EmptyState>
        }
      />
      <RoutedDialog title="New application" when={["new", "application"]}>
        {(close) => (
          <CreateApplication
            onCancel={close}
            onCreated={({ id }) =>
              void navigate({
                to: "/o/$org/applications/$id",
                params: { org: organisation.slug, id },
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

/** What an application is subscribed to is known for the first hundred subscriptions of the organisation. */
function createColumns(org: string, subscriptions: readonly Subscription[]): readonly Column<Application>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ id, name }) => (
        <AppLink to="/o/$org/applications/$id" params={{ org, id }}>
          {name}
        </AppLink>
      ),
    },
    {
      id: "services",
      label: "Subscribed to",
      cell: ({ id }) => {
        const names = subscriptions.filter((one) => one.applicationId === id).map((one) => one.serviceName);
        return names.length === 0 ? "-" : names.join(", ");
      },
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  ];
}
