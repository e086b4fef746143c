import { createCache } from "@platform/engine/base/cache";
import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { ACCESS_TOKEN_TYPE } from "./access-tokens.ts";
import type { TokenSubject } from "./access-tokens.ts";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** What a verifier works with. */
export interface TokenVerifierOptions {
  readonly keys: SigningKeys;
  /** Issuer and audience that a token must name. */
  readonly issuer: string;
  /** Milliseconds since the epoch; default: `Date.now`. */
  readonly now?: () => number;
  /** How many verified tokens are cached; default 5,000. */
  readonly maxEntries?: number;
}

/** Verifies access tokens. */
export interface TokenVerifier {
  /** Null for anything but a valid access token of this gateway; throws only when the keys cannot be read. */
  readonly verify: (token: string) => Promise<TokenSubject | null>;
  /** The subject of a token that is cached and still valid; undefined: call `verify`. */
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
 * Verifies signature, algorithm, type, issuer, audience and expiry without the network. A verified token is cached until it
 * expires or its key is retired, so that polling seldom costs the check of a signature; refused tokens are not cached.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const now = options.now ?? Date.now;
  const verified = createCache<Verified>({
    maxEntries: options.maxEntries ?? DEFAULT_ENTRIES,
    ttlMs: ({ expiresAt }) => expiresAt - now(),
    now,
  });

  const peek = (token: string): TokenSubject | undefined => {
    const known = verified.peek(token);
    if (known === undefined) return undefined;
    // Storing it again makes it the most recently used. It stays also while its key is not trusted: that may only have to be
    // read again.
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
      if (entry) verified.set(token, entry);
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
