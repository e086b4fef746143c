import { Stack } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { mayCall } from "../../api/access.ts";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { useMe, useOrganisation, useScope } from "../../api/scope.tsx";
import { ChangeRole } from "../../forms/change-role.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Invitations, InviteButton } from "./invitations.tsx";
import { createMemberColumns } from "./member-columns.tsx";

const route = getRouteApi("/in/o/$org/members");

/** Who belongs to the organisation, and who is invited. */
export function MembersPage() {
  const scope = useScope();
  const me = useMe();
  const { name } = useOrganisation();
  const { role: chosen } = route.useSearch();
  const members = useLoadedPages(pages("listMembers", {}), { refresh: REFRESH_MS.list });
  const changing = members.items.find(({ userId }) => userId === chosen);
  return (
    <>
      <PageHeader
        title="Members"
        description={`Who belongs to ${name}, and what each of them may do.`}
        actions={
          <>
            <CopyAs op="listMembers" request={{}} command="platform members" />
            <InviteButton />
          </>
        }
      />
      <Stack gap="xl">
        <DataTable
          label="Members"
          columns={createMemberColumns(members, me.id)}
          rows={members}
          rowKey={({ userId }) => userId}
          empty={null}
        />
        {mayCall(scope, "listInvitations") && <Invitations />}
      </Stack>
      {changing !== undefined && (
        <RoutedDialog title={`Role of ${changing.name}`} when={["role", changing.userId]}>
          {(close) => <ChangeRole member={changing} isOwn={changing.userId === me.id} close={close} />}
        </RoutedDialog>
      )}
    </>
  );
}
