import { createHash, randomInt, randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { TOKEN_SCOPES } from "@platform/contract/permissions";
import type { TokenScope } from "@platform/contract/permissions";
import { createCache } from "@platform/engine/base/cache";
import { DAY, SECOND } from "@platform/engine/base/time";
import { PERSONAL_ACCESS_TOKEN_PREFIX, isPersonalAccessToken } from "../access/token-kinds.ts";
import type {
  ActiveToken,
  NewTokenRow,
  TokenRecord,
  TokenStore,
} from "../store/accounts/personal-access-tokens.ts";

/** A token as its user sees it; times in milliseconds since the epoch, null: never. */
export interface PersonalAccessToken extends TokenRecord {
  readonly scopes: readonly TokenScope[];
}

/** What a valid token allows, and to whom. */
export interface VerifiedToken extends ActiveToken {
  readonly scopes: readonly TokenScope[];
}

/** A token to be created. */
export interface NewPersonalAccessToken {
  readonly name: string;
  /** Default: `DEFAULT_TOKEN_SCOPES`. */
  readonly scopes?: readonly TokenScope[];
  /** Default: 365. */
  readonly expiresInDays?: number;
  /** The token that it is made with, and its end in milliseconds since the epoch, which the new one cannot exceed. */
  readonly parent?: { readonly id: string; readonly expiresAt: number | null };
}

/** The tokens of users. */
export interface PersonalAccessTokens {
  /** Null for anything but a valid token. Cached for seconds. @throws Problem UNAVAILABLE when the database cannot be read */
  readonly verifyToken: (token: string) => Promise<VerifiedToken | null>;
  /** `token` in the answer is the only copy: only its hash is stored. @throws Problem QUOTA_EXCEEDED, UNAUTHENTICATED: its parent was revoked meanwhile */
  readonly createPersonalAccessToken: (
    userId: string,
    token: NewPersonalAccessToken,
  ) => Promise<PersonalAccessToken & { readonly token: string }>;
  /** Newest first. */
  readonly listPersonalAccessTokens: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly PersonalAccessToken[]>;
  /** Also revokes the tokens that were made with it, and with those. False when the user has no such token. */
  readonly revokePersonalAccessToken: (userId: string, id: string) => Promise<boolean>;
  /** Drops what is cached: it may have changed. */
  readonly forgetTokens: () => void;
}

/** The least: who wants more says so. */
export const DEFAULT_TOKEN_SCOPES: readonly TokenScope[] = ["read"];

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN_LETTERS = 64;
const MAX_TOKEN_LENGTH = 256;
const DEFAULT_DAYS = 365;
/** For so long other processes than the one that revoked a token still accept it when the notification is lost. */
const KNOWN_TTL_MS = 5 * SECOND;
const REFUSED_TTL_MS = 2 * SECOND;
const MAX_CACHED = 5_000;

/** Manages tokens. `now`: milliseconds since the epoch. `elapsed`: since any fixed moment. */
export function createPersonalAccessTokens(
  store: TokenStore,
  now: () => number,
  elapsed: () => number,
): PersonalAccessTokens {
  const cache = createCache<VerifiedToken | null>({
    ttlMs: (verified) => (verified ? KNOWN_TTL_MS : REFUSED_TTL_MS),
    maxEntries: MAX_CACHED,
    now: elapsed,
  });
  return {
    verifyToken: async (token) => {
      if (!isPersonalAccessToken(token) || token.length > MAX_TOKEN_LENGTH) return null;
      const hash = hashToken(token);
      const verified = await cache.get(hash, async () => {
        const found = await store.use(hash);
        return found && { ...found, scopes: readScopes(found.scopes) };
      });
      const hasEnded = verified !== null && verified.expiresAt !== null && verified.expiresAt <= now();
      return hasEnded ? null : verified;
    },
    createPersonalAccessToken: async (userId, wanted) => {
      const { token, row } = prepareToken(userId, wanted, now());
      const created = await store.create(row);
      if (created === null)
        throw new Problem("UNAUTHENTICATED", "The personal access token of this request was revoked.");
      return { ...toToken(created), token };
    },
    listPersonalAccessTokens: async (userId, page) => (await store.list(userId, page)).map(toToken),
    revokePersonalAccessToken: async (userId, id) => {
      const wasRevoked = await store.revoke(userId, id);
      cache.clear();
      return wasRevoked;
    },
    forgetTokens: cache.clear,
  };
}

/** A new token and the row to store, which has only its hash. */
export function prepareToken(
  userId: string,
  wanted: NewPersonalAccessToken,
  now: number,
): { readonly token: string; readonly row: NewTokenRow } {
  const token = PERSONAL_ACCESS_TOKEN_PREFIX + createLetters();
  const { name, scopes = DEFAULT_TOKEN_SCOPES, expiresInDays = DEFAULT_DAYS, parent } = wanted;
  const row = {
    id: randomUUID(),
    userId,
    name,
    tokenHash: hashToken(token),
    scopes: [...new Set(scopes)],
    expiresAt: Math.min(now + expiresInDays * DAY, parent?.expiresAt ?? Infinity),
    parentId: parent?.id ?? null,
  };
  return { token, row };
}

function createLetters(): string {
  return Array.from({ length: TOKEN_LETTERS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
}

/** 364 random bits cannot be guessed, so a slow hash would only slow every first check. */
function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

function toToken(record: TokenRecord): PersonalAccessToken {
  return { ...record, scopes: readScopes(record.scopes) };
}

/** A scope that this release does not know opens nothing. */
function readScopes(scopes: readonly string[]): readonly TokenScope[] {
  return TOKEN_SCOPES.filter((scope) => scopes.includes(scope));
}
