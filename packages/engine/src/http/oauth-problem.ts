import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem, ProblemCode } from "@platform/contract/problems";
import { sendProblem, toProblem } from "./errors.ts";

/** Codes that OAuth writes in another way (RFC 6749, section 5.2; RFC 8628, section 3.5; the last three are those of the token endpoint). */
const OAUTH_CODES: Readonly<Partial<Record<ProblemCode, string>>> = {
  AUTHORIZATION_PENDING: "authorization_pending",
  SLOW_DOWN: "slow_down",
  EXPIRED_TOKEN: "expired_token",
  ACCESS_DENIED: "access_denied",
  // The user has no room for another token.
  QUOTA_EXCEEDED: "access_denied",
  RATE_LIMITED: "rate_limited",
  UNAVAILABLE: "temporarily_unavailable",
  INTERNAL_ERROR: "server_error",
};

/** Fields that have a code of their own. A field that is missing is `invalid_request` all the same: its path is that of the whole body. */
const CODE_OF_FIELD: Readonly<Record<string, string>> = {
  "/scope": "invalid_scope",
  "/grant_type": "unsupported_grant_type",
};

/** Sends the refusal of an operation that clients of OAuth call: what they read besides is `error`. */
export function sendOAuthProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error, request);
  sendProblem(problem, request, reply, { error: toOAuthCode(problem) });
}

function toOAuthCode({ code, errors = [] }: Problem): string {
  const ofField = errors.map(({ path }) => CODE_OF_FIELD[path]).find((known) => known !== undefined);
  return OAUTH_CODES[code] ?? ofField ?? "invalid_request";
}
