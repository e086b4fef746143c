import { Problem } from "@platform/contract/problems";
import type { INVITATIONS_API } from "@platform/contract/platform-api/invitations";
import type { ORGANIZATIONS_API } from "@platform/contract/platform-api/organizations";
import type { OperationHandlers } from "@platform/engine/http/types";

type Handlers = OperationHandlers<typeof ORGANIZATIONS_API & typeof INVITATIONS_API, null>;

const JOINED = { joinedAt: "2026-11-20 21:17:00", lastSeenAt: null };

function requireLink(token: string): void {
  if (token === "mistyped") throw new Problem("NOT_FOUND", "There is no such invitation.");
  if (token !== "secret") throw new Problem("LINK_EXPIRED");
}

/** Two members and the invitations that a test makes. */
export function createPeople(): Pick<
  Handlers,
  | "createOrganization"
  | "listMembers"
  | "putMember"
  | "removeMember"
  | "leaveOrganization"
  | "listInvitations"
  | "createInvitation"
  | "revokeInvitation"
  | "acceptInvitation"
  | "declineInvitation"
> {
  const members = [
    { userId: "user-1", name: "Ada", email: "ada@example.org", role: "owner" as const, ...JOINED },
    { userId: "user-2", name: "Bob", email: "bob@example.org", role: "viewer" as const, ...JOINED },
  ];
  type Invitation = Extract<
    Awaited<ReturnType<Handlers["listInvitations"]>>,
    { status: 200 }
  >["body"]["items"][number];
  const invitations: Invitation[] = [];
  const findMember = (id: string) => {
    const found = members.find(({ userId }) => userId === id);
    if (found === undefined) throw new Problem("NOT_FOUND", "There is no such member.");
    return found;
  };
  return {
    createOrganization: ({ body: { name, slug = "lab" } }) => ({
      status: 201,
      body: { id: `organization-${slug}`, slug, name, role: "owner", isPersonal: false },
    }),
    listMembers: () => ({ status: 200, body: { items: [...members], nextCursor: null } }),
    putMember: ({ params, body }) => ({ status: 200, body: { ...findMember(params.userId), ...body } }),
    removeMember: ({ params }) => {
      findMember(params.userId);
      return { status: 204 };
    },
    leaveOrganization: () => {
      throw new Problem("LAST_OWNER");
    },
    listInvitations: () => ({ status: 200, body: { items: invitations, nextCursor: null } }),
    createInvitation: ({ body }) => {
      const { email = null, role, expiresInDays } = body;
      const made = {
        id: `invitation-${invitations.length + 1}`,
        email,
        role,
        invitedBy: "Ada",
        createdAt: "2026-11-20 21:17:00",
        expiresAt: expiresInDays === 7 ? "2026-11-27 21:17:00" : "2026-11-21 21:17:00",
        declinedAt: null,
      };
      invitations.push(made);
      return { status: 201, body: { ...made, url: "http://api.test/invitations/secret" } };
    },
    revokeInvitation: ({ params }) => {
      const at = invitations.findIndex(({ id }) => id === params.invitation);
      if (at < 0) throw new Problem("NOT_FOUND", "There is no such open invitation.");
      invitations.splice(at, 1);
      return { status: 204 };
    },
    declineInvitation: ({ params }) => {
      requireLink(params.invitation);
      const [declined] = invitations;
      if (declined !== undefined) declined.declinedAt = "2026-11-20 21:18:00";
      return { status: 204 };
    },
    acceptInvitation: ({ params }) => {
      requireLink(params.invitation);
      const joined = { id: "organization-2", slug: "lab", name: "Lab", role: "viewer" as const };
      return { status: 200, body: { ...joined, isPersonal: false } };
    },
  };
}
