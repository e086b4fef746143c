import { Badge, Group, Text } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import type { ItemOf } from "../../api/client.ts";
import { useChange } from "../../api/queries.ts";
import type { LoadedPages } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { Time } from "../../ui/time.tsx";

type Member = ItemOf<"listMembers">;

/** The columns of the list. `ownId`: of the user. */
export function createMemberColumns(members: LoadedPages<Member>, ownId: string): readonly Column<Member>[] {
  const isLastOwner = (member: Member) =>
    member.role === "owner" &&
    !members.hasMore &&
    members.items.filter(({ role }) => role === "owner").length === 1;
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ name, userId }) => (
        <Group gap={6}>
          <Text span inherit fw={600} style={{ overflowWrap: "anywhere" }}>
            {name}
          </Text>
          {userId === ownId && <Badge>You</Badge>}
        </Group>
      ),
    },
    {
      id: "email",
      label: "Email address",
      cell: ({ email }) => <span style={{ overflowWrap: "anywhere" }}>{email}</span>,
    },
    { id: "role", label: "Role", cell: ({ role }) => role },
    {
      id: "seen",
      label: "Last seen",
      cell: ({ lastSeenAt }) => <Time at={lastSeenAt} none="never" />,
      priority: 3,
    },
    { id: "joined", label: "Joined", cell: ({ joinedAt }) => <Time at={joinedAt} />, priority: 3 },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (member) => (
        <MemberActions of={member} isOwn={member.userId === ownId} isLastOwner={isLastOwner(member)} />
      ),
    },
  ];
}

interface MemberActionsProps {
  readonly of: Member;
  readonly isOwn: boolean;
  readonly isLastOwner: boolean;
}

const LAST_OWNER = "An organisation needs an owner: make another member owner first.";
const OWN_ORGANISATION =
  "This is your own organisation, of which you stay owner. To hand something over, make another organisation.";

function MemberActions({ of: member, isOwn, isLastOwner }: MemberActionsProps) {
  const { isPersonal } = useOrganisation();
  const stays = isOwn && isPersonal ? OWN_ORGANISATION : isLastOwner ? LAST_OWNER : null;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <OpenButton
        op="putMember"
        set={{ role: member.userId }}
        unless={stays}
        variant="default"
        size="compact-sm"
      >
        Change role
      </OpenButton>
      {isOwn ? <Leave unless={stays} /> : <Remove of={member} unless={stays} />}
    </Group>
  );
}

function Remove({ of: { userId, name }, unless }: { readonly of: Member; readonly unless: string | null }) {
  const organisation = useOrganisation();
  const remove = useChange("removeMember", {
    done: "Member removed.",
    refresh: ["listMembers", "listInvitations"],
  });
  return (
    <ConfirmButton
      op="removeMember"
      label="Remove"
      question={`Remove ${name} from ${organisation.name}?`}
      unless={unless}
      button={{ size: "compact-sm" }}
      run={() => remove.run({ params: { userId } })}
    >
      Within seconds they see nothing of it any more, and invitations that they have made end. What they made
      in it stays.
    </ConfirmButton>
  );
}

function Leave({ unless }: { readonly unless: string | null }) {
  const { name } = useOrganisation();
  const { queries } = useScope();
  const router = useRouter();
  const leave = useChange("leaveOrganization", { done: `You have left ${name}.`, refresh: [] });
  const run = async () => {
    await leave.run({});
    // What was read of it is forgotten.
    queries.clear();
    await router.navigate({ to: "/", replace: true });
  };
  return (
    <ConfirmButton
      op="leaveOrganization"
      label="Leave"
      question={`Leave ${name}?`}
      unless={unless}
      button={{ size: "compact-sm" }}
      run={run}
    >
      You see nothing of it any more until an owner invites you again. What you made in it stays.
    </ConfirmButton>
  );
}
