import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { Identity } from "../accounts/identity.ts";
import { readClientAddress } from "../base/client-address.ts";
import { describeMe } from "./me.ts";

/** A new session; the one whose cookie came with the request ends. @throws Problem INVALID_CREDENTIALS when the user was disabled */
export async function startSession(
  { identity }: { readonly identity: Identity },
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

/** A browser that signs in again has one session afterwards; what its cookie held before is not used any further. */
async function endFormerSession(identity: Identity, value: string | null): Promise<void> {
  const former = value === null ? null : await identity.verifySession(value);
  if (former !== null) await identity.revokeSession(former.userId, former.sessionId);
}
