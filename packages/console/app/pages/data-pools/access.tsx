import { Group, Stack, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { DataPool } from "@platform/contract/platform-api/data-pools";
import type { PoolGrant, PoolShare } from "@platform/contract/platform-api/pool-access";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { GrantDataPool, ShareDataPool } from "../../forms/pool-access.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { Time } from "../../ui/time.tsx";

const GrantButton = () => (
  <OpenButton op="putPoolGrant" set={{ new: "grant" }} size="xs">
    Let an application use it
  </OpenButton>
);

const ShareButton = () => (
  <OpenButton op="putPoolShare" set={{ new: "share" }} size="xs">
    Share with an organisation
  </OpenButton>
);

/** Who may use a pool: applications, and other organisations. */
export function Access({ pool }: { readonly pool: DataPool }) {
  return (
    <Stack gap="xl">
      <Grants poolId={pool.id} />
      <Shares pool={pool} />
    </Stack>
  );
}

function Grants({ poolId }: { readonly poolId: string }) {
  const grants = useLoadedPages(pages("listPoolGrants", { params: { id: poolId } }));
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={2} fz="lg">
          Applications
        </Title>
        <GrantButton />
      </Group>
      <DataTable
        label="Applications"
        columns={createGrantColumns(poolId)}
        rows={grants}
        rowKey={({ applicationId }) => applicationId}
        empty={
          <EmptyState
            title="No application may use it"
            command={`platform pools grant ${poolId} APPLICATION`}
          >
            What an application starts can refer to files of this pool once it is granted access here.
          </EmptyState>
        }
      />
      <RoutedDialog title="Let an application use the pool" when={["new", "grant"]}>
        {(close) => <GrantDataPool poolId={poolId} close={close} />}
      </RoutedDialog>
    </section>
  );
}

function createGrantColumns(poolId: string): readonly Column<PoolGrant>[] {
  return [
    { id: "name", label: "Application", cell: ({ applicationName }) => applicationName },
    { id: "organisation", label: "Of", cell: ({ organizationName }) => organizationName, priority: 3 },
    { id: "access", label: "May", cell: ({ access }) => (access === "write" ? "read and write" : "read") },
    { id: "since", label: "Since", cell: (grant) => <Since of={grant} />, priority: 3 },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (grant) => <Withdraw poolId={poolId} grant={grant} />,
    },
  ];
}

function Withdraw({ poolId, grant }: { readonly poolId: string; readonly grant: PoolGrant }) {
  const { applicationId, applicationName } = grant;
  const remove = useChange("deletePoolGrant", { done: "Access withdrawn.", refresh: ["listPoolGrants"] });
  return (
    <ConfirmButton
      op="deletePoolGrant"
      label="Withdraw"
      question={`Withdraw the access of ${applicationName}?`}
      button={{ size: "compact-sm" }}
      run={() => remove.run({ params: { id: poolId, applicationId } })}
    >
      What it starts cannot refer to files of this pool any more. Executions that have started read them.
    </ConfirmButton>
  );
}

function Shares({ pool: { id, role } }: { readonly pool: DataPool }) {
  const organisation = useOrganisation();
  const shares = useLoadedPages(pages("listPoolShares", { params: { id } }));
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={2} fz="lg">
          Organisations
        </Title>
        {role === "owner" && <ShareButton />}
      </Group>
      <DataTable
        label="Organisations"
        columns={createShareColumns(id, organisation.id)}
        rows={shares}
        rowKey={({ organizationId }) => organizationId}
        empty={
          <EmptyState
            title="Shared with no other organisation"
            command={`platform pools share ${id} ORGANISATION`}
          >
            Members of an organisation that it is shared with see the files, and may let their applications
            use them.
          </EmptyState>
        }
      />
      <RoutedDialog title="Share with an organisation" when={["new", "share"]}>
        {(close) => <ShareDataPool poolId={id} close={close} />}
      </RoutedDialog>
    </section>
  );
}

function createShareColumns(poolId: string, ownId: string): readonly Column<PoolShare>[] {
  return [
    { id: "name", label: "Organisation", cell: ({ organizationName }) => organizationName },
    {
      id: "role",
      label: "May",
      cell: ({ role }) => (role === "maintainer" ? "read, store, rename and delete files" : "read files"),
    },
    { id: "since", label: "Since", cell: (share) => <Since of={share} />, priority: 3 },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (share) => <EndShare poolId={poolId} share={share} isOwn={share.organizationId === ownId} />,
    },
  ];
}

interface EndShareProps {
  readonly poolId: string;
  readonly share: PoolShare;
  /** Whether it is the own organisation that stops using the pool. */
  readonly isOwn: boolean;
}

function EndShare({ poolId, share: { organizationId, organizationName }, isOwn }: EndShareProps) {
  const { slug: org } = useOrganisation();
  const navigate = useNavigate();
  const remove = useChange("deletePoolShare", {
    done: "Not shared any more.",
    refresh: isOwn ? ["listDataPools"] : ["listPoolShares", "listPoolGrants", "listDataPools"],
  });
  return (
    <ConfirmButton
      op="deletePoolShare"
      label={isOwn ? "Leave" : "End"}
      question={`Share the pool with ${organizationName} no longer?`}
      button={{ size: "compact-sm" }}
      run={async () => {
        await remove.run({ params: { id: poolId, organizationId } });
        // What was left cannot be seen any more.
        if (isOwn) await navigate({ to: "/o/$org/data-pools", params: { org }, search: {} });
      }}
    >
      What its applications were granted ends as well. Executions that have started read what they refer to.
    </ConfirmButton>
  );
}

function Since({ of: { createdAt, createdBy } }: { readonly of: PoolGrant | PoolShare }) {
  return (
    <>
      <Time at={createdAt} /> by {createdBy}
    </>
  );
}
