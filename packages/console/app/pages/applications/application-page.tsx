import { getRouteApi } from "@tanstack/react-router";
import { q, useChange, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { RenameApplication } from "../../forms/rename-application.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import type { PageTab } from "../../ui/routed-tabs.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";
import { AccessKeys } from "./access-keys.tsx";
import { Subscriptions } from "./subscriptions.tsx";
import { TokenSnippets } from "./token-snippets.tsx";

const route = getRouteApi("/in/o/$org/applications/$id");

/** One application: what it may call, with which keys, how, and who is told of what it has started. */
export function ApplicationPage() {
  const { id } = route.useParams();
  const { rotate } = route.useSearch();
  const { slug } = useOrganisation();
  const navigate = route.useNavigate();
  const application = useLoaded(q("getApplication", { params: { id } }));
  const remove = useChange("deleteApplication", {
    done: "Application deleted.",
    refresh: ["listApplications"],
  });
  return (
    <>
      <PageHeader
        title={application.name}
        above={[
          <AppLink key="all" to="/o/$org/applications" params={{ org: slug }}>
            Applications
          </AppLink>,
        ]}
        actions={
          <>
            <CopyApplication id={id} />
            <OpenButton op="putApplication" set={{ edit: "name" }} variant="default">
              Rename
            </OpenButton>
            <ConfirmButton
              op="deleteApplication"
              label="Delete"
              question={`Delete ${application.name}?`}
              typed={application.name}
              run={async () => {
                await remove.run({ params: { id } });
                await navigate({ to: "/o/$org/applications", params: { org: slug }, search: {} });
              }}
            >
              Its keys are revoked, its subscriptions are removed, and what it has started is cancelled.
            </ConfirmButton>
          </>
        }
      />
      <RoutedTabs label={`Parts of ${application.name}`} tabs={listTabs(id, rotate)} />
      <RoutedDialog title="Rename the application" when={["edit", "name"]}>
        {(close) => <RenameApplication id={id} name={application.name} close={close} />}
      </RoutedDialog>
    </>
  );
}

function listTabs(id: string, rotating: string | undefined): PageTab[] {
  return [
    { id: "subscriptions", label: "Subscriptions", content: () => <Subscriptions applicationId={id} /> },
    { id: "keys", label: "Keys", content: () => <AccessKeys applicationId={id} rotating={rotating} /> },
    { id: "token", label: "Token", content: () => <TokenSnippets /> },
    {
      id: "webhooks",
      label: "Webhooks",
      content: () => (
        <Webhooks applicationId={id}>
          Told what becomes of the executions that the subscriptions of this application start.
        </Webhooks>
      ),
    },
  ];
}

/** What the open tab shows. */
function CopyApplication({ id }: { readonly id: string }) {
  const { tab } = route.useSearch();
  if (tab === "keys")
    return (
      <CopyAs op="listAccessKeys" request={{ params: { id } }} id={id} command={`platform keys ls ${id}`} />
    );
  if (tab === "token" || tab === "webhooks")
    return <CopyAs op="getApplication" request={{ params: { id } }} id={id} />;
  return (
    <CopyAs
      op="listSubscriptions"
      request={{ query: { applicationId: id } }}
      id={id}
      command="platform subscriptions ls"
    />
  );
}
