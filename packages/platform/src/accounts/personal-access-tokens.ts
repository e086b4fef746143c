import { createHash } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import { createCache } from "@platform/engine/base/cache";
import type { LoadLibrary, LoadedLibrary } from "./library-loader.ts";
import { isPersonalAccessToken } from "../access/token-kinds.ts";

/** What a token may be used for. */
type Scope = "api" | "quantum";

/** A token as its user sees it; times in milliseconds since the epoch, null: never. */
export interface PersonalAccessToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

/** What a valid token allows, and to whom. */
export interface VerifiedToken {
  readonly userId: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

/** A token to be created. */
interface NewPersonalAccessToken {
  readonly name: string;
  /** Default: `api`. */
  readonly scopes?: readonly Scope[];
  /** Default: 365. */
  readonly expiresInDays?: number;
  /** The latest end of the token, in milliseconds since the epoch; null: no such limit. */
  readonly notAfter?: number | null;
}

/** The tokens of users. */
export interface PersonalAccessTokens {
  /** Null for anything but a valid token. Cached for seconds. @throws Problem UNAVAILABLE when the database cannot be read */
  readonly verifyToken: (token: string) => Promise<VerifiedToken | null>;
  /** `token` in the answer is the only copy: only its hash is stored. */
  readonly createPersonalAccessToken: (
    userId: string,
    token: NewPersonalAccessToken,
  ) => Promise<PersonalAccessToken & { readonly token: string }>;
  /** Newest first. */
  readonly listPersonalAccessTokens: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly PersonalAccessToken[]>;
  /** False when the user has no such token. */
  readonly revokePersonalAccessToken: (userId: string, id: string) => Promise<boolean>;
}

interface KeyRow {
  readonly id: string;
  readonly name: string | null;
  readonly referenceId: string;
  readonly permissions: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastRequest: Date | null;
}

const MODEL = "apikey";
const MAX_TOKEN_LENGTH = 256;
const DEFAULT_DAYS = 365;
const DAY_SECONDS = 24 * 60 * 60;
/** For so long other processes than the one that revoked a token still accept it. */
const KNOWN_TTL_MS = 5_000;
const REFUSED_TTL_MS = 2_000;
const MAX_CACHED = 5_000;

/** Manages tokens through the library. `now`: milliseconds since the epoch. */
export function createPersonalAccessTokens(load: LoadLibrary, now: () => number): PersonalAccessTokens {
  const cache = createCache<VerifiedToken | null>({
    ttlMs: (verified) => (verified ? KNOWN_TTL_MS : REFUSED_TTL_MS),
    maxEntries: MAX_CACHED,
    now,
  });
  return {
    verifyToken: async (token) => {
      if (!isPersonalAccessToken(token) || token.length > MAX_TOKEN_LENGTH) return null;
      const key = createHash("sha256").update(token).digest("base64url");
      return await cache.get(key, async () => verify(await load(), token, key));
    },
    createPersonalAccessToken: async (userId, token) => create(await load(), userId, token, now()),
    listPersonalAccessTokens: async (userId, { limit, offset }) => {
      const { context } = await load();
      const rows = await context.adapter.findMany<KeyRow>({
        model: MODEL,
        where: [{ field: "referenceId", value: userId }],
        sortBy: { field: "createdAt", direction: "desc" },
        limit,
        offset,
      });
      return rows.map(toToken);
    },
    revokePersonalAccessToken: async (userId, id) => {
      if (!isUuid(id)) return false;
      const { context } = await load();
      const where = [
        { field: "id", value: id },
        { field: "referenceId", value: userId },
      ];
      const revoked = await context.adapter.deleteMany({ model: MODEL, where });
      cache.clear();
      return revoked > 0;
    },
  };
}

async function verify(library: LoadedLibrary, token: string, hash: string): Promise<VerifiedToken | null> {
  // The library answers "invalid" also when the database fails. Looking for the token before and after distinguishes the
  // two, and a made-up token costs one read instead of a logged error.
  const isThere = async (): Promise<boolean> => {
    const where = [{ field: "key", value: hash }];
    return (await library.context.adapter.findOne<KeyRow>({ model: MODEL, where })) !== null;
  };
  if (!(await isThere())) return null;
  const { valid, key, error } = await library.api.verifyApiKey({ body: { key: token } });
  if (valid && key) {
    return {
      userId: key.referenceId,
      scopes: readScopes(key.permissions),
      expiresAt: key.expiresAt?.getTime() ?? null,
    };
  }
  if (error?.code === "INVALID_API_KEY" && (await isThere())) {
    throw new Problem("UNAVAILABLE", "The token could not be checked; try again.");
  }
  return null;
}

async function create(library: LoadedLibrary, userId: string, token: NewPersonalAccessToken, now: number) {
  const scopes: Scope[] = [...new Set(token.scopes ?? ["api" as const])];
  const created = await library.api.createApiKey({
    body: {
      userId,
      name: token.name,
      expiresIn: chooseSeconds(token, now),
      permissions: { platform: scopes },
    },
  });
  return {
    id: created.id,
    name: token.name,
    scopes,
    createdAt: created.createdAt.getTime(),
    expiresAt: created.expiresAt?.getTime() ?? null,
    lastUsedAt: null,
    token: created.key,
  };
}

function chooseSeconds({ expiresInDays, notAfter }: NewPersonalAccessToken, now: number): number {
  const wanted = (expiresInDays ?? DEFAULT_DAYS) * DAY_SECONDS;
  if (notAfter === undefined || notAfter === null) return wanted;
  return Math.max(1, Math.min(wanted, Math.floor((notAfter - now) / 1_000)));
}

function toToken(row: KeyRow): PersonalAccessToken {
  return {
    id: row.id,
    name: row.name ?? "",
    scopes: readScopes(row.permissions === null ? null : JSON.parse(row.permissions)),
    createdAt: row.createdAt.getTime(),
    expiresAt: row.expiresAt?.getTime() ?? null,
    lastUsedAt: row.lastRequest?.getTime() ?? null,
  };
}

function readScopes(permissions: Record<string, string[]> | null | undefined): readonly Scope[] {
  const held = permissions?.platform ?? [];
  return held.filter((scope): scope is Scope => scope === "api" || scope === "quantum");
}
