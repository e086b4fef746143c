import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { INVITATIONS_API } from "@platform/contract/platform-api/invitations";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { Invitation } from "../accounts/invitations.ts";
import type { PlatformCaller } from "./caller.ts";
import { createClientLimit } from "./client-limit.ts";
import { describeOrganisation } from "./organizations.ts";

/** Invitations that one client looks at or declines, behind which may be many people. */
const VIEW_LIMIT = { burst: 60, perSecond: 1 };

type Handlers = OperationHandlers<typeof INVITATIONS_API, PlatformCaller>;

/** Handlers of invitations. `apiUrl`: origin of the links, from the settings and never from a request's `Host`. */
export function createInvitationHandlers({
  identity,
  apiUrl,
}: {
  readonly identity: Identity;
  readonly apiUrl: string;
}): Handlers {
  return {
    listInvitations: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const found = await identity.listInvitations(caller.organisationId, { ...page, limit: page.limit + 1 });
      return { status: 200, body: cutOffsetPage(found, page, toInvitationBody) };
    },
    createInvitation: async ({ caller, body }) => {
      const { organisationId, userId: invitedBy } = caller;
      const { email } = body;
      if (email !== undefined && identity.sendsMail) await identity.takeInvitation(email, invitedBy);
      const created = await identity.createInvitation({ ...body, organisationId, invitedBy });
      const url = `${apiUrl}/invitations/${created.token}`;
      if (created.email !== null) {
        const { organisationName } = caller.membership;
        identity.sendInvitation({
          email: created.email,
          url,
          organisationName,
          invitedBy: created.invitedBy,
        });
      }
      return { status: 201, body: { ...toInvitationBody(created), url } };
    },
    revokeInvitation: async ({ caller, params }) => {
      if (await identity.revokeInvitation(caller.organisationId, params.invitation)) return { status: 204 };
      throw new Problem("NOT_FOUND", "There is no such open invitation.");
    },
    ...createLinkHandlers(identity),
  };
}

/** For whoever has the link. */
function createLinkHandlers(
  identity: Identity,
): Pick<Handlers, "getInvitation" | "acceptInvitation" | "declineInvitation"> {
  const limitView = createClientLimit(VIEW_LIMIT);
  return {
    getInvitation: async ({ params, http }) => {
      limitView(http);
      const { organisationName, role, invitedBy, expiresAt } = await identity.viewInvitation(
        params.invitation,
      );
      return {
        status: 200,
        body: {
          organizationName: organisationName,
          role,
          invitedBy,
          expiresAt: formatTimestamp(expiresAt),
        },
      };
    },
    acceptInvitation: async ({ caller, params }) => {
      const user = await identity.findUser(caller.userId);
      if (user === null) throw new Problem("UNAUTHENTICATED", "This user is disabled.");
      const guest = { userId: user.id, email: user.email };
      const organisationId = await identity.acceptInvitation(params.invitation, guest);
      return { status: 200, body: await describeOrganisation(identity, user.id, organisationId) };
    },
    declineInvitation: async ({ params, http }) => {
      limitView(http);
      await identity.declineInvitation(params.invitation);
      return { status: 204 };
    },
  };
}

function toInvitationBody({ id, email, role, invitedBy, createdAt, expiresAt, declinedAt }: Invitation) {
  return {
    id,
    email,
    role,
    invitedBy,
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
    declinedAt: declinedAt === null ? null : formatTimestamp(declinedAt),
  };
}
