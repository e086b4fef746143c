import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { ACCOUNT_API, Organization } from "@platform/contract/platform-api/account";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { Membership } from "../accounts/memberships.ts";
import type { PersonalAccessToken } from "../accounts/personal-access-tokens.ts";
import type { PlatformCaller } from "./caller.ts";

/** Handlers of the caller's own account: user, organisations, personal access tokens. */
export function createAccountHandlers(
  identity: Identity,
): OperationHandlers<typeof ACCOUNT_API, PlatformCaller> {
  return {
    getMe: async ({ caller }) => {
      const user = await identity.findUser(caller.userId);
      if (!user) throw new Error("A verified token belongs to no user.");
      return { status: 200, body: { ...user, organization: toOrganisationBody(caller.membership) } };
    },
    listOrganizations: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const found = await identity.listOrganisations(caller.userId, { ...page, limit: page.limit + 1 });
      return { status: 200, body: cutOffsetPage(found, page, toOrganisationBody) };
    },
    listPersonalAccessTokens: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const found = await identity.listPersonalAccessTokens(caller.userId, {
        ...page,
        limit: page.limit + 1,
      });
      return { status: 200, body: cutOffsetPage(found, page, toTokenBody) };
    },
    createPersonalAccessToken: async ({ caller, body }) => {
      // A leaked token must not be usable to create one that is valid for longer or has more scopes.
      const wider = (body.scopes ?? []).filter((scope) => !caller.token.scopes.includes(scope));
      if (wider.length > 0)
        throw new Problem(
          "FORBIDDEN",
          `This personal access token does not have the scope ${wider.join(", ")}.`,
        );
      const notAfter = caller.token.expiresAt;
      const created = await identity.createPersonalAccessToken(caller.userId, { ...body, notAfter });
      return { status: 201, body: { ...toTokenBody(created), token: created.token } };
    },
    revokePersonalAccessToken: async ({ caller, params }) => {
      const wasRevoked = await identity.revokePersonalAccessToken(caller.userId, params.id);
      if (!wasRevoked) throw new Problem("NOT_FOUND", "You have no such personal access token.");
      return { status: 204 };
    },
  };
}

function toOrganisationBody(membership: Membership): Organization {
  return {
    id: membership.organisationId,
    name: membership.organisationName,
    role: membership.role,
    isPersonal: membership.isPersonal,
  };
}

function toTokenBody(token: PersonalAccessToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: [...token.scopes],
    createdAt: formatTimestamp(token.createdAt),
    expiresAt: token.expiresAt === null ? null : formatTimestamp(token.expiresAt),
    lastUsedAt: token.lastUsedAt === null ? null : formatTimestamp(token.lastUsedAt),
  };
}
