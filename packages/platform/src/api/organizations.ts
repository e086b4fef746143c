import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { ORGANIZATIONS_API } from "@platform/contract/platform-api/organizations";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { Member } from "../accounts/organisations.ts";
import type { PlatformCaller } from "./caller.ts";
import { toOrganisationBody } from "./me.ts";

type Handlers = OperationHandlers<typeof ORGANIZATIONS_API, PlatformCaller>;

/** Handlers of organisations and their members. */
export function createOrganizationHandlers(identity: Identity): Handlers {
  return { ...createOwnHandlers(identity), ...createMemberHandlers(identity) };
}

function createOwnHandlers(
  identity: Identity,
): Pick<Handlers, "createOrganization" | "getOrganization" | "putOrganization" | "deleteOrganization"> {
  return {
    createOrganization: async ({ caller, body }) => {
      const id = await identity.createOrganisation(caller.userId, body);
      return {
        status: 201,
        body: await describeOrganisation(identity, caller.userId, id),
        headers: { location: `/api/organizations/${id}` },
      };
    },
    getOrganization: async ({ caller, params }) => {
      requireOwn(caller, params.id);
      return { status: 200, body: toOrganisationBody(caller.membership) };
    },
    putOrganization: async ({ caller, params, body }) => {
      requireOwn(caller, params.id);
      await identity.renameOrganisation(caller.organisationId, body);
      return { status: 200, body: await describeOrganisation(identity, caller.userId, params.id) };
    },
    deleteOrganization: async ({ caller, params }) => {
      requireOwn(caller, params.id);
      await identity.deleteOrganisation(caller.organisationId, caller.userId);
      return { status: 204 };
    },
  };
}

function createMemberHandlers(
  identity: Identity,
): Pick<Handlers, "listMembers" | "putMember" | "removeMember" | "leaveOrganization"> {
  return {
    listMembers: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const found = await identity.listMembers(caller.organisationId, { ...page, limit: page.limit + 1 });
      return { status: 200, body: cutOffsetPage(found, page, toMemberBody) };
    },
    putMember: async ({ caller, params, body }) => {
      const { organisationId, userId: by } = caller;
      const changed = await identity.changeRole({ organisationId, by, ...params, role: body.role });
      return { status: 200, body: toMemberBody(changed) };
    },
    removeMember: async ({ caller, params }) => {
      const { organisationId, userId: by } = caller;
      await identity.removeMember({ organisationId, by, ...params });
      return { status: 204 };
    },
    leaveOrganization: async ({ caller }) => {
      const { organisationId, userId } = caller;
      await identity.removeMember({ organisationId, by: userId, userId });
      return { status: 204 };
    },
  };
}

/** The caller's role is that in the organisation of the request, so the path must not name another one. */
function requireOwn({ organisationId }: PlatformCaller, id: string): void {
  if (id.toLowerCase() === organisationId) return;
  throw new Problem(
    "NOT_FOUND",
    "There is no such organisation, or X-OrganizationId does not name it; send its id there as well.",
  );
}

/** An organisation as a member sees it. */
export async function describeOrganisation(
  identity: Pick<Identity, "findMembership">,
  userId: string,
  organisationId: string,
) {
  const membership = await identity.findMembership(userId, organisationId);
  if (membership === null)
    throw new Problem("NOT_FOUND", "You are not a member of the organisation any more.");
  return toOrganisationBody(membership);
}

function toMemberBody({ userId, name, email, role, joinedAt, lastSeenAt }: Member) {
  return {
    userId,
    name,
    email,
    role,
    joinedAt: formatTimestamp(joinedAt),
    lastSeenAt: lastSeenAt === null ? null : formatTimestamp(lastSeenAt),
  };
}
