import { getRouteApi } from "@tanstack/react-router";
import type { ListedVersion, Service } from "@platform/contract/platform-api/services";
import type { LoadedPages } from "../../api/queries.ts";
import { pages, q, REFRESH_MS, useChange, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { UploadProject } from "../../forms/upload-project.tsx";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import type { PageTab } from "../../ui/routed-tabs.tsx";
import { Builds } from "./builds.tsx";
import { CopyService } from "./copy-service.tsx";
import { Listing } from "./listing.tsx";
import { Overview } from "./overview.tsx";
import { Publish } from "./publish.tsx";
import { ServiceApi } from "./service-api.tsx";
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
        actions={<ServiceActions service={service} hasVersions={versions.items.length > 0} />}
      />
      <RoutedTabs label={`Parts of ${service.name}`} tabs={listTabs(service, versions, plan)} />
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

interface ServiceActionsProps {
  readonly service: Service;
  readonly hasVersions: boolean;
}

function ServiceActions({ service, hasVersions }: ServiceActionsProps) {
  const { slug: org } = useOrganisation();
  const { key, name, latestVersion } = service;
  return (
    <>
      <CopyService serviceKey={key} />
      <ButtonLink to="/o/$org/services/$key/settings" params={{ org, key }} variant="default">
        Settings
      </ButtonLink>
      {!hasVersions && <Delete serviceKey={key} name={name} />}
      <Publish service={service} />
      {latestVersion !== null && (
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
  );
}

function listTabs(
  service: Service,
  versions: LoadedPages<ListedVersion>,
  plan: string | undefined,
): PageTab[] {
  const { key } = service;
  return [
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
    { id: "api", label: "API", content: () => <ServiceApi service={service} /> },
  ];
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
