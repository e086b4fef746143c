import type { FastifyRequest } from "fastify";
import { formatTimestamp } from "@platform/contract/execution";
import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import type { SESSION_API } from "@platform/contract/platform-api/session";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { PlatformCaller } from "./caller.ts";
import { readClientAddress } from "../base/client-address.ts";
import type { KeptByPlatform } from "./marketplace.ts";
import { createExternalSignInHandlers } from "./external-sign-in.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { startSession } from "./start-session.ts";

/** What the handlers work with. */
export interface SessionDeps extends Pick<KeptByPlatform, "retentionDays" | "logRetentionDays"> {
  readonly identity: Identity;
  readonly cookie: SessionCookie;
  /** For what the browser brings back from an identity provider. */
  readonly externalCookie: SessionCookie;
  /** Version of the platform. */
  readonly version: string;
  /** Origin of the gateway as clients see it. */
  readonly gatewayUrl: string;
  /** Size of the largest project archive. */
  readonly maxArchiveBytes: number;
  /** Size of the largest file of a data pool. */
  readonly maxFileBytes: number;
}

/** Handlers of sessions, of the password, and of what anybody may know. */
export function createSessionHandlers(
  deps: SessionDeps,
): OperationHandlers<typeof SESSION_API, PlatformCaller> {
  const { identity, cookie } = deps;
  return {
    ...createExternalSignInHandlers(deps),
    getConfiguration: () => ({ status: 200, body: describeConfiguration(deps) }),
    signIn: async ({ body, http }) => {
      const { me, value } = await signIn(deps, body, http);
      return {
        status: 200,
        body: me,
        headers: { "set-cookie": cookie.write(value), "cache-control": "no-store" },
      };
    },
    signOut: async ({ caller }) => {
      if (caller.credential.kind !== "session")
        throw new Problem(
          "NOT_FOUND",
          "This request has a personal access token and no session; revoke the token at /api/personal-access-tokens/{id}.",
        );
      await identity.revokeSession(caller.userId, caller.credential.sessionId);
      return { status: 204, headers: { "set-cookie": cookie.remove() } };
    },
    listSessions: async ({ caller, query }) => {
      const page = readOffsetPage(query);
      const found = await identity.listSessions(caller.userId, { ...page, limit: page.limit + 1 });
      const current = findSessionId(caller);
      return {
        status: 200,
        body: cutOffsetPage(found, page, ({ id, device, ip, createdAt, lastSeenAt }) => ({
          id,
          device,
          ip,
          createdAt: formatTimestamp(createdAt),
          lastSeenAt: formatTimestamp(lastSeenAt),
          current: id === current,
        })),
      };
    },
    revokeSession: async ({ caller, params }) => {
      const wasRevoked = await identity.revokeSession(caller.userId, params.id);
      if (!wasRevoked) throw new Problem("NOT_FOUND", "You have no such session.");
      return { status: 204 };
    },
    changePassword: async ({ caller, body }) => {
      const { userId } = caller;
      const { currentPassword: current, newPassword: next } = body;
      await identity.changePassword({ userId, current, next, keptSessionId: findSessionId(caller) });
      return { status: 204 };
    },
  };
}

async function signIn(
  deps: SessionDeps,
  credentials: { readonly email: string; readonly password: string },
  request: FastifyRequest,
) {
  const { identity, cookie } = deps;
  // Without proof another page could sign its reader in as somebody else, who then reads what they enter.
  cookie.requireProof(request.method, request.headers);
  const former = cookie.read(request.headers);
  const ip = readClientAddress(request);
  const { userId, passwordHash } = await identity.checkPassword({ ...credentials, ip });
  return await startSession(deps, request, { userId, passwordHash, former });
}

function describeConfiguration(deps: SessionDeps) {
  const { identity, version, gatewayUrl, maxArchiveBytes, maxFileBytes, retentionDays, logRetentionDays } =
    deps;
  return {
    productName: "Platform",
    version,
    gatewayUrl,
    signUp: identity.signUpMode,
    identityProvider: identity.externalProvider,
    publicMarketplace: false,
    mail: identity.sendsMail,
    limits: { archiveBytes: maxArchiveBytes, inputBytes: MAX_INPUT_BYTES, fileBytes: maxFileBytes },
    kept: { resultDays: retentionDays, logDays: Math.min(logRetentionDays, retentionDays) },
  };
}

function findSessionId({ credential }: PlatformCaller): string | null {
  return credential.kind === "session" ? credential.sessionId : null;
}
