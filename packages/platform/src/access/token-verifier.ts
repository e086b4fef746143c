import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { ACCESS_TOKEN_TYPE } from "./access-tokens.ts";
import type { TokenSubject } from "./access-tokens.ts";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface TokenVerifierOptions {
  readonly keys: SigningKeys;
  /** Issuer and audience that a token must name. */
  readonly issuer: string;
  readonly now?: () => number;
  /** Verified tokens that are remembered; default 5,000. */
  readonly maxEntries?: number;
}

export interface TokenVerifier {
  /** Null for whatever is not a valid access token of this gateway; throws only when the keys cannot be read. */
  readonly verify: (token: string) => Promise<TokenSubject | null>;
  /** The subject of a token that was verified before, without waiting. */
  readonly peek: (token: string) => TokenSubject | undefined;
}

interface Verified {
  readonly subject: TokenSubject;
  readonly kid: string;
  readonly expiresAt: number;
}

const MAX_TOKEN_LENGTH = 4_096;
const DEFAULT_ENTRIES = 5_000;

/**
 * Verifies without the network: signature, algorithm, type, issuer, audience, expiry. A token that was verified is
 * remembered until it expires or its key is retired, so a client that polls pays for a signature each few seconds at most;
 * what was refused is never remembered.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const now = options.now ?? Date.now;
  const maxEntries = options.maxEntries ?? DEFAULT_ENTRIES;
  const verified = new Map<string, Verified>();

  const remember = (token: string, entry: Verified): void => {
    verified.set(token, entry);
    if (verified.size <= maxEntries) return;
    const [oldest] = verified.keys();
    if (oldest !== undefined) verified.delete(oldest);
  };

  const peek = (token: string): TokenSubject | undefined => {
    const known = verified.get(token);
    if (!known) return undefined;
    verified.delete(token);
    if (known.expiresAt <= now()) return undefined;
    // Not forgotten: its key may only have to be looked up again.
    verified.set(token, known);
    return options.keys.isTrusted(known.kid) ? known.subject : undefined;
  };

  return {
    peek,
    verify: async (token) => {
      const known = peek(token);
      if (known) return known;
      if (token.length > MAX_TOKEN_LENGTH) return null;
      const entry = await verify(token, options, now);
      if (entry) remember(token, entry);
      else verified.delete(token);
      return entry?.subject ?? null;
    },
  };
}

async function verify(
  token: string,
  options: TokenVerifierOptions,
  now: () => number,
): Promise<Verified | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? null : await options.keys.findPublicKey(kid);
        if (!key) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      {
        algorithms: [SIGNING_ALGORITHM],
        typ: ACCESS_TOKEN_TYPE,
        issuer: options.issuer,
        audience: options.issuer,
        currentDate: new Date(now()),
      },
    );
    return toVerified(payload, protectedHeader.kid);
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function toVerified(payload: JWTPayload, kid: string | undefined): Verified | null {
  const { sub, client_id: keyId, exp } = payload;
  if (sub === undefined || typeof keyId !== "string" || exp === undefined || kid === undefined) return null;
  return { subject: { applicationId: sub, keyId }, kid, expiresAt: exp * 1_000 };
}
