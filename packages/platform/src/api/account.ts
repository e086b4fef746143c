import { formatTimestamp } from "@platform/contract/execution";
import { mayHandOn } from "@platform/contract/permissions";
import type { TokenScope } from "@platform/contract/permissions";
import { Problem } from "@platform/contract/problems";
import type { ACCOUNT_API } from "@platform/contract/platform-api/account";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import { DEFAULT_TOKEN_SCOPES } from "../accounts/personal-access-tokens.ts";
import type { PersonalAccessToken } from "../accounts/personal-access-tokens.ts";
import { noteAudit } from "../store/audit/trail.ts";
import type { PlatformCaller } from "./caller.ts";
import { describeMe, toOrganisationBody } from "./me.ts";

/** Handlers of the caller's own account: user, organisations, personal access tokens. */
export function createAccountHandlers(
  identity: Identity,
): OperationHandlers<typeof ACCOUNT_API, PlatformCaller> {
  return {
    getMe: async ({ caller }) => ({
      status: 200,
      body: await describeMe(identity, caller.userId, caller.membership),
    }),
    putMe: async ({ caller, body }) => {
      await identity.renameUser(caller.userId, body.name);
      return { status: 200, body: await describeMe(identity, caller.userId, caller.membership) };
    },
    listOrganizations: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const wanted = { ...page, limit: page.limit + 1, q: query.q };
      const found = await identity.listOrganisations(caller.userId, wanted);
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
      const scopes = body.scopes ?? DEFAULT_TOKEN_SCOPES;
      const parent = findParent(caller, scopes);
      noteAudit({ changes: [{ field: "scopes", before: null, after: scopes.join(" ") }] });
      const wanted = { ...body, scopes, ...(parent === null ? {} : { parent }) };
      const created = await identity.createPersonalAccessToken(caller.userId, wanted);
      return {
        status: 201,
        body: { ...toTokenBody(created), token: created.token },
        headers: { "cache-control": "no-store" },
      };
    },
    revokePersonalAccessToken: async ({ caller, params }) => {
      const wasRevoked = await identity.revokePersonalAccessToken(caller.userId, params.id);
      if (!wasRevoked) throw new Problem("NOT_FOUND", "You have no such personal access token.");
      return { status: 204 };
    },
  };
}

/**
 * The token that a new one is made with; null: a session. A leaked token must not be usable to create one that is valid for longer or
 * opens more.
 */
function findParent({ credential }: PlatformCaller, scopes: readonly TokenScope[]) {
  if (credential.kind === "session") return null;
  if (credential.kind === "execution")
    throw new Problem("FORBIDDEN", "An execution creates no personal access token.");
  const wider = scopes.filter((scope) => !mayHandOn(credential.scopes, scope));
  if (wider.length > 0)
    throw new Problem(
      "FORBIDDEN",
      `This personal access token does not have the scope ${wider.join(", ")}, so it cannot create a token that has.`,
    );
  return { id: credential.tokenId, expiresAt: credential.expiresAt };
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
