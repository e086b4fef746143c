import type { FastifyRequest } from "fastify";
import { MAX_INPUT_BYTES, formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { SESSION_API } from "@platform/contract/platform-api/session";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Identity } from "../accounts/identity.ts";
import type { PlatformCaller } from "./caller.ts";
import { readClientAddress } from "../base/client-address.ts";
import { describeMe } from "./me.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** What the handlers work with. */
export interface SessionDeps {
  readonly identity: Identity;
  readonly cookie: SessionCookie;
  /** Version of the platform. */
  readonly version: string;
  /** Origin of the gateway as clients see it. */
  readonly gatewayUrl: string;
  /** Size of the largest project archive. */
  readonly maxArchiveBytes: number;
}

/** Handlers of sessions, of the password, and of what anybody may know. */
export function createSessionHandlers(
  deps: SessionDeps,
): OperationHandlers<typeof SESSION_API, PlatformCaller> {
  const { identity, cookie } = deps;
  return {
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

/** A new session; the one whose cookie came with the request ends. @throws Problem INVALID_CREDENTIALS when the user was disabled */
export async function startSession(
  { identity }: Pick<SessionDeps, "identity">,
  request: FastifyRequest,
  {
    userId,
    passwordHash,
    former,
  }: { readonly userId: string; readonly passwordHash?: string; readonly former: string | null },
) {
  const me = await describeMe(identity, userId);
  await endFormerSession(identity, former);
  const client = { userAgent: request.headers["user-agent"], ip: readClientAddress(request) };
  const value = await identity.createSession(userId, client, passwordHash);
  if (value === null) throw new Problem("INVALID_CREDENTIALS");
  return { me, value };
}

function describeConfiguration({ identity, version, gatewayUrl, maxArchiveBytes }: SessionDeps) {
  return {
    productName: "Platform",
    version,
    gatewayUrl,
    signUp: identity.signUpMode,
    publicMarketplace: false,
    mail: identity.sendsMail,
    limits: { archiveBytes: maxArchiveBytes, inputBytes: MAX_INPUT_BYTES },
  };
}

/** A browser that signs in again has one session afterwards; what its cookie held before is not used any further. */
async function endFormerSession(identity: Identity, value: string | null): Promise<void> {
  const former = value === null ? null : await identity.verifySession(value);
  if (former !== null) await identity.revokeSession(former.userId, former.sessionId);
}

function findSessionId({ credential }: PlatformCaller): string | null {
  return credential.kind === "session" ? credential.sessionId : null;
}
