import { Box, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import type { OperationId } from "../../api/client.ts";
import { pages, q, useChange, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { ChangePolicy } from "../../forms/change-policy.tsx";
import { ChangeKept } from "../../forms/change-kept.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { ServiceVariables } from "./service-variables.tsx";

const route = getRouteApi("/in/o/$org/services/$key/settings");

/** How executions of a service are run, what is kept of them, and what its runs get from the environment. */
export function ServiceSettingsPage() {
  const { key } = route.useParams();
  const { set } = route.useSearch();
  const { slug: org } = useOrganisation();
  const service = useLoaded(q("getService", { params: { key } }));
  const policy = useLoaded(q("getPolicy", { params: { key } }));
  return (
    <>
      <PageHeader
        title={`Settings of ${service.name}`}
        description="They hold for what is started from now on, without a new version. Resources and Python stand in platform.json, and come with one."
        above={[
          <AppLink key="all" to="/o/$org/services" params={{ org }}>
            Services
          </AppLink>,
          <AppLink key="service" to="/o/$org/services/$key" params={{ org, key }}>
            {service.name}
          </AppLink>,
        ]}
        actions={
          <CopyAs
            op="getPolicy"
            request={{ params: { key } }}
            command={`platform services policy ${service.name}`}
          />
        }
      />
      <RoutedTabs
        label="Parts of the settings"
        tabs={[
          {
            id: "runs",
            label: "Runs",
            content: () => (
              <ForEditors op="putPolicy">
                <ChangePolicy serviceKey={key} current={policy} />
              </ForEditors>
            ),
          },
          {
            id: "kept",
            label: "What is kept",
            content: () => (
              <ForEditors op="putService">
                <ChangeKept service={service} />
              </ForEditors>
            ),
          },
          {
            id: "variables",
            label: "Variables",
            content: () => <ServiceVariables serviceKey={key} setting={set} />,
          },
          { id: "deletion", label: "Deletion", content: () => <Deletion service={service} /> },
        ]}
      />
    </>
  );
}

interface ForEditorsProps {
  readonly op: OperationId;
  readonly children: ReactNode;
}

/** A form for who may send it; others read why they may not. */
function ForEditors({ op, children }: ForEditorsProps) {
  const refusal = useRefusal(op);
  return refusal === null ? <Box maw={820}>{children}</Box> : <Text c="dimmed">{refusal}</Text>;
}

/** Results name their service, so only one that never had a version can go. */
function Deletion({ service: { key, name } }: { readonly service: Service }) {
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const { items } = useLoadedPages(pages("listVersions", { params: { key } }));
  const remove = useChange("deleteService", { done: "Service deleted.", refresh: ["listServices"] });
  if (items.length > 0)
    return (
      <Stack maw="70ch" gap="sm">
        <Text>
          {name} has had versions, and stays: executions and their results name it. To end it, withdraw it on
          the{" "}
          <AppLink to="/o/$org/services/$key" params={{ org, key }} underline="always">
            page of the service
          </AppLink>
          , so that nobody can subscribe any more, and retire its versions there.
        </Text>
        <Text c="dimmed">
          Subscribers keep calling what is live until its version is retired; what they have started is
          finished, and its results stay for as long as they are kept.
        </Text>
      </Stack>
    );
  return (
    <Stack maw="70ch" gap="sm" align="flex-start">
      <Text>{name} has never had a version, and nobody can have subscribed to it.</Text>
      <ConfirmButton
        op="deleteService"
        label="Delete the service"
        question={`Delete ${name}?`}
        typed={name}
        run={async () => {
          await remove.run({ params: { key } });
          await navigate({ to: "/o/$org/services", params: { org }, search: {} });
        }}
      >
        Its builds, plans, listing, secrets and variables go with it.
      </ConfirmButton>
    </Stack>
  );
}
