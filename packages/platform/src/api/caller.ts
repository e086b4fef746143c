import type { IncomingHttpHeaders } from "node:http";
import type { Operation } from "@platform/contract/operation";
import type { Actor } from "@platform/contract/permissions";
import { can, explainRefusal } from "@platform/contract/permissions";
import { REQUESTED_BY } from "@platform/contract/platform-api/session";
import { Problem } from "@platform/contract/problems";
import { readParameter } from "@platform/engine/http/query";
import type { Identity } from "../accounts/identity.ts";
import type { Membership } from "../accounts/memberships.ts";
import type { VerifiedToken } from "../accounts/personal-access-tokens.ts";
import { isExecutionToken, isPersonalAccessToken } from "../access/token-kinds.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** What a user shows: a personal access token, or the cookie of a session. At the quantum API also the token of an execution. */
type Credential =
  | ({ readonly kind: "token" } & VerifiedToken)
  | { readonly kind: "execution"; readonly executionId: string }
  | { readonly kind: "session"; readonly sessionId: string };

/** A user, in one of their organisations; or an execution of a service of the organisation. */
export interface PlatformCaller {
  /** Of an execution the id of the organisation. */
  readonly userId: string;
  readonly credential: Credential;
  readonly membership: Membership;
  /** Of the membership; every query is limited to it. */
  readonly organisationId: string;
  /** What decides whether they may. */
  readonly actor: Actor;
}

/** What a request is checked with. */
export interface CallerDeps {
  readonly identity: Pick<Identity, "verifyToken" | "verifySession" | "findMembership">;
  readonly cookie: SessionCookie;
  /** Told of requests that would change something, with the cookie of this session and without proof that the console sent them. */
  readonly onForgery: (session: { readonly userId: string; readonly sessionId: string }) => Promise<void>;
}

/** A request, as far as it says who calls. */
interface Request {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
}

/**
 * Authenticates a user and finds their organisation.
 *
 * @param isDownload the answer is saved as a file, and shown by no browser: a link of the console may ask for it, which has no headers
 * @throws Problem UNAUTHENTICATED, FORBIDDEN
 */
export async function authenticateCaller(
  deps: CallerDeps,
  request: Request,
  isDownload = false,
): Promise<PlatformCaller> {
  const { credential, userId, isOperator } = await readCredential(deps, request, isDownload);
  const isLink = isDownload && credential.kind === "session";
  const membership = await deps.identity.findMembership(userId, readOrganisationId(request, isLink));
  if (!membership)
    throw new Problem("FORBIDDEN", "There is no such organisation, or you are not a member of it.");
  const scopes = credential.kind === "token" ? credential.scopes : null;
  const actor = { role: membership.role, scopes, isOperator };
  return { userId, credential, membership, organisationId: membership.organisationId, actor };
}

/** Checks that the caller may call the operation. @throws Problem FORBIDDEN */
export function authorizeCaller({ actor, membership }: PlatformCaller, operation: Operation): void {
  if (can(actor, operation)) return;
  throw new Problem("FORBIDDEN", explainRefusal(actor, membership.organisationName, operation));
}

/** Who calls, before it is known in which organisation. */
interface Known {
  readonly credential: Credential;
  readonly userId: string;
  readonly isOperator: boolean;
}

async function readCredential(deps: CallerDeps, request: Request, isDownload: boolean): Promise<Known> {
  const { identity, cookie } = deps;
  const { headers } = request;
  const session = cookie.read(headers);
  if (session === null) return await readTokenCredential(identity, headers);
  if (headers.authorization !== undefined || headers["x-auth-token"] !== undefined) {
    throw unauthenticated(
      "The request has both a personal access token and the cookie of a session; send one of them.",
      true,
    );
  }
  await requireProof(deps, request, { session, isDownload });
  const verified = await identity.verifySession(session);
  if (!verified) throw unauthenticated("The session has ended; sign in again.", false);
  const { sessionId, userId, isOperator } = verified;
  const { "x-userid": expected = userId } = headers;
  if (expected !== userId)
    throw unauthenticated(
      "Another user has signed in in this browser since the page was opened. Nothing was done.",
      false,
    );
  return { credential: { kind: "session", sessionId }, userId, isOperator };
}

async function requireProof(
  { identity, cookie, onForgery }: CallerDeps,
  { method, headers }: Request,
  { session, isDownload }: { readonly session: string; readonly isDownload: boolean },
): Promise<void> {
  try {
    cookie.requireProof(method, headers, isDownload);
  } catch (error) {
    const known = method === "GET" || method === "HEAD" ? null : await identity.verifySession(session);
    if (known !== null) await onForgery(known);
    throw error;
  }
}

async function readTokenCredential(
  identity: CallerDeps["identity"],
  headers: IncomingHttpHeaders,
): Promise<Known> {
  const verified = await identity.verifyToken(readToken(headers));
  if (!verified)
    throw unauthenticated("The personal access token is not valid: it is unknown, expired or revoked.", true);
  const { userId, isOperator } = verified;
  return { credential: { kind: "token", ...verified }, userId, isOperator };
}

function readToken(headers: IncomingHttpHeaders): string {
  const { authorization, "x-auth-token": plain } = headers;
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) {
    throw unauthenticated(
      "The Authorization header is not of the form Bearer <PERSONAL_ACCESS_TOKEN>.",
      false,
    );
  }
  if (bearer !== undefined && plain !== undefined && plain !== bearer) {
    throw unauthenticated("Authorization and X-Auth-Token carry different tokens; send one of them.", true);
  }
  const token = bearer ?? (typeof plain === "string" ? plain : undefined);
  if (token === undefined) throw unauthenticated(explainMissing(headers), false);
  if (!isPersonalAccessToken(token)) {
    throw unauthenticated(explainOther(token), true);
  }
  return token;
}

function explainMissing(headers: IncomingHttpHeaders): string {
  return headers["x-requested-by"] === REQUESTED_BY
    ? "The session has ended; sign in again."
    : "Send a personal access token as Authorization: Bearer <TOKEN> or as X-Auth-Token.";
}

function explainOther(token: string): string {
  if (isExecutionToken(token))
    return "The token of an execution is good for the quantum API, and for nothing else.";
  return "This is not a personal access token. Access tokens of applications are for services at the gateway, not for the platform API.";
}

function readOrganisationId({ headers, query }: Request, isLink: boolean): string | undefined {
  const id = headers["x-organizationid"];
  if (typeof id === "string") return id;
  return isLink ? readParameter(query, "organizationId") : undefined;
}

function unauthenticated(detail: string, wasSent: boolean): Problem {
  const challenge = wasSent ? 'Bearer realm="platform", error="invalid_token"' : 'Bearer realm="platform"';
  return new Problem("UNAUTHENTICATED", detail, { headers: { "www-authenticate": challenge } });
}
