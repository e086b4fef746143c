import { getRouteApi } from "@tanstack/react-router";
import { pages, q, REFRESH_MS, useChange, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { UploadProject } from "../../forms/upload-project.tsx";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { Builds } from "./builds.tsx";
import { Listing } from "./listing.tsx";
import { Overview } from "./overview.tsx";
import { Publish } from "./publish.tsx";
import { ServicePlans } from "./service-plans.tsx";
import { Subscribers } from "./subscribers.tsx";
import { Versions } from "./versions.tsx";

const route = getRouteApi("/in/o/$org/services/$key");

/** One service: what it does, its versions and builds. */
export function ServicePage() {
  const { key } = route.useParams();
  const { plan } = route.useSearch();
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const service = useLoaded(q("getService", { params: { key } }), { refresh: REFRESH_MS.list });
  const versions = useLoadedPages(pages("listVersions", { params: { key } }), { refresh: REFRESH_MS.list });
  return (
    <>
      <PageHeader
        title={service.name}
        above={[
          <AppLink key="all" to="/o/$org/services" params={{ org }}>
            Services
          </AppLink>,
        ]}
        actions={
          <>
            <CopyAs op="getService" request={{ params: { key } }} id={key} />
            {versions.items.length === 0 && <Delete serviceKey={key} name={service.name} />}
            <Publish service={service} />
            {service.latestVersion !== null && (
              <Can op="startJob">
                <ButtonLink to="/o/$org/services/$key/try" params={{ org, key }} variant="default">
                  Try it
                </ButtonLink>
              </Can>
            )}
            <OpenButton op="createVersion" set={{ new: "version" }}>
              New version
            </OpenButton>
          </>
        }
      />
      <RoutedTabs
        label={`Parts of ${service.name}`}
        tabs={[
          { id: "overview", label: "Overview", content: () => <Overview service={service} /> },
          {
            id: "versions",
            label: "Versions",
            content: () => <Versions serviceKey={key} versions={versions} />,
          },
          { id: "builds", label: "Builds", content: () => <Builds serviceKey={key} /> },
          { id: "listing", label: "Listing", content: () => <Listing service={service} /> },
          {
            id: "plans",
            label: "Plans",
            content: () => <ServicePlans serviceKey={key} changing={plan} />,
          },
          { id: "subscribers", label: "Subscribers", content: () => <Subscribers serviceKey={key} /> },
        ]}
      />
      <RoutedDialog title={`New version of ${service.name}`} when={["new", "version"]} width={640}>
        {() => (
          <UploadProject
            service={service}
            onUploaded={(_, version) =>
              void navigate({ to: "/o/$org/services/$key/versions/$version", params: { org, key, version } })
            }
          />
        )}
      </RoutedDialog>
    </>
  );
}

function Delete({ serviceKey, name }: { readonly serviceKey: string; readonly name: string }) {
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const remove = useChange("deleteService", { done: "Service deleted.", refresh: ["listServices"] });
  return (
    <ConfirmButton
      op="deleteService"
      label="Delete"
      question={`Delete ${name}?`}
      run={async () => {
        await remove.run({ params: { key: serviceKey } });
        await navigate({ to: "/o/$org/services", params: { org }, search: {} });
      }}
    >
      It never had a version. Its builds, plans, listing, secrets and variables go with it.
    </ConfirmButton>
  );
}
