import type { IncomingHttpHeaders } from "node:http";
import type { Action } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import type { Identity } from "../accounts/identity.ts";
import type { Membership } from "../accounts/memberships.ts";
import type { VerifiedToken } from "../accounts/personal-access-tokens.ts";
import { can } from "../accounts/roles.ts";
import { isPersonalAccessToken } from "../access/token-kinds.ts";

/** A user, in one of their organisations. */
export interface PlatformCaller {
  readonly userId: string;
  readonly token: VerifiedToken;
  readonly membership: Membership;
  /** Of the membership; every query is limited to it. */
  readonly organisationId: string;
}

const ROLE_NEEDED: Readonly<Record<Action, string>> = {
  read: "a member",
  write: "a maintainer or an owner",
  delete: "an owner",
};

/** Authenticates a user and finds their organisation. @throws Problem UNAUTHENTICATED, FORBIDDEN */
export async function authenticateCaller(
  identity: Identity,
  headers: IncomingHttpHeaders,
): Promise<PlatformCaller> {
  const verified = await identity.verifyToken(readToken(headers));
  if (!verified)
    throw unauthenticated("The personal access token is not valid: it is unknown, expired or revoked.", true);
  if (!verified.scopes.includes("api")) {
    throw new Problem("FORBIDDEN", "This personal access token does not have the scope api.");
  }
  const membership = await identity.findMembership(verified.userId, readOrganisationId(headers));
  if (!membership)
    throw new Problem("FORBIDDEN", "There is no such organisation, or you are not a member of it.");
  return { userId: verified.userId, token: verified, membership, organisationId: membership.organisationId };
}

/** Checks that the role of the caller allows the action. @throws Problem FORBIDDEN */
export function authorizeCaller({ membership }: PlatformCaller, action: Action): void {
  if (can(membership.role, action)) return;
  throw new Problem(
    "FORBIDDEN",
    `You are ${membership.role} of ${membership.organisationName}; this needs ${ROLE_NEEDED[action]}.`,
  );
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
  if (token === undefined) {
    throw unauthenticated(
      "Send a personal access token as Authorization: Bearer <TOKEN> or as X-Auth-Token.",
      false,
    );
  }
  if (!isPersonalAccessToken(token)) {
    throw unauthenticated(
      "This is not a personal access token. Access tokens of applications are for services at the gateway, not for the platform API.",
      true,
    );
  }
  return token;
}

function readOrganisationId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["x-organizationid"];
  return typeof id === "string" ? id : undefined;
}

function unauthenticated(detail: string, wasSent: boolean): Problem {
  const challenge = wasSent ? 'Bearer realm="platform", error="invalid_token"' : 'Bearer realm="platform"';
  return new Problem("UNAUTHENTICATED", detail, { headers: { "www-authenticate": challenge } });
}
