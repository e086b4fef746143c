import { Badge, Group, Title } from "@mantine/core";
import { useState } from "react";
import type { AnswerOf, ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { Invite } from "../../forms/invite.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Time } from "../../ui/time.tsx";

type Invitation = ItemOf<"listInvitations">;

/** Opens the form of an invitation. */
export function InviteButton() {
  return (
    <OpenButton op="createInvitation" set={{ new: "invitation" }}>
      Invite
    </OpenButton>
  );
}

/** Invitations that are open, or were declined. A link is held by this part alone, until its dialog closes. */
export function Invitations() {
  const invitations = useLoadedPages(pages("listInvitations", {}));
  const [created, setCreated] = useState<AnswerOf<"createInvitation"> | null>(null);
  return (
    <section>
      <Group mb="sm">
        <Title order={2} fz="lg">
          Invitations
        </Title>
      </Group>
      <DataTable
        label="Invitations"
        columns={COLUMNS}
        rows={invitations}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No open invitations" command="platform invite">
            An invitation is a link, which makes its reader a member, once. Send it as you like; no mail
            server is needed.
          </EmptyState>
        }
      />
      <RoutedDialog title="Invite somebody" when={["new", "invitation"]}>
        {(close) => (
          <Invite
            onCancel={close}
            onCreated={(invitation) => {
              close();
              setCreated(invitation);
            }}
          />
        )}
      </RoutedDialog>
      <SecretOnce
        title="The link of the invitation"
        secrets={created && [{ label: "Link", value: created.url }]}
        onClose={() => setCreated(null)}
      />
    </section>
  );
}

const COLUMNS: readonly Column<Invitation>[] = [
  {
    id: "email",
    label: "For",
    cell: ({ email }) => <span style={{ overflowWrap: "anywhere" }}>{email ?? "whoever has the link"}</span>,
  },
  { id: "role", label: "Role", cell: ({ role }) => role },
  { id: "by", label: "Invited by", cell: ({ invitedBy }) => invitedBy, priority: 3 },
  { id: "expires", label: "Expires", cell: (invitation) => <Standing of={invitation} /> },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (invitation) => <Revoke of={invitation} /> },
];

function Standing({ of: { expiresAt, declinedAt } }: { readonly of: Invitation }) {
  if (declinedAt === null) return <Time at={expiresAt} />;
  return (
    <Group gap={6}>
      <Badge title="Nobody can accept it any more.">Declined</Badge>
      <Time at={declinedAt} />
    </Group>
  );
}

function Revoke({ of: { id, email, declinedAt } }: { readonly of: Invitation }) {
  const isOpen = declinedAt === null;
  const revoke = useChange("revokeInvitation", {
    done: isOpen ? "Invitation revoked." : "Removed from the list.",
    refresh: ["listInvitations"],
  });
  const whom = email ?? "whoever has the link";
  return (
    <ConfirmButton
      op="revokeInvitation"
      label={isOpen ? "Revoke" : "Remove"}
      question={isOpen ? `Revoke the invitation for ${whom}?` : `Remove the invitation for ${whom}?`}
      button={{ size: "compact-sm" }}
      run={() => revoke.run({ params: { invitation: id } })}
    >
      {isOpen
        ? "Its link cannot be used from then on."
        : "It was declined, and leaves this list; the audit log keeps it."}
    </ConfirmButton>
  );
}
