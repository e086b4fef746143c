import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createCache } from "@platform/engine/base/cache";
import { SECOND } from "@platform/engine/base/time";
import type { ActiveSession, SessionRecord, SessionStore } from "../store/accounts/sessions.ts";

/** Where a user signs in from. */
interface SessionClient {
  /** Text of the header User-Agent, however long; undefined: none was sent. */
  readonly userAgent: string | undefined;
  /** Address of the client. */
  readonly ip: string;
}

/** Signed-in browsers of users. */
export interface Sessions {
  /**
   * Makes a session; returns the only copy of what its cookie holds. Null: the user is disabled, or their password is not `passwordHash`
   * any more.
   */
  readonly createSession: (
    userId: string,
    client: SessionClient,
    passwordHash?: string,
  ) => Promise<string | null>;
  /** Null for anything but the cookie of a session that has not ended. Cached for seconds. */
  readonly verifySession: (cookie: string) => Promise<ActiveSession | null>;
  /** Those that have not ended, newest first. */
  readonly listSessions: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly SessionRecord[]>;
  /** False when the user has no such session. */
  readonly revokeSession: (userId: string, id: string) => Promise<boolean>;
  /** Drops what is cached: it may have changed. */
  readonly forgetSessions: () => void;
}

const COOKIE_BYTES = 32;
const COOKIE = /^[A-Za-z0-9_-]{43}$/u;
const MAX_DEVICE_LENGTH = 200;
/** For so long other processes than the one that ended a session still accept it when the notification is lost. */
const KNOWN_TTL_MS = 5 * SECOND;
const REFUSED_TTL_MS = 2 * SECOND;
const MAX_CACHED = 5_000;

/** Manages sessions. `now`: milliseconds since the epoch. `elapsed`: since any fixed moment. */
export function createSessions(store: SessionStore, now: () => number, elapsed: () => number): Sessions {
  const cache = createCache<ActiveSession | null>({
    ttlMs: (session) => (session ? KNOWN_TTL_MS : REFUSED_TTL_MS),
    maxEntries: MAX_CACHED,
    now: elapsed,
  });
  return {
    createSession: async (userId, { userAgent = "", ip }, passwordHash) => {
      const cookie = randomBytes(COOKIE_BYTES).toString("base64url");
      const device = userAgent.replaceAll(/[^\x20-\x7e]/gu, "").slice(0, MAX_DEVICE_LENGTH);
      const wasCreated = await store.create({
        id: randomUUID(),
        userId,
        tokenHash: hashCookie(cookie),
        device,
        ip,
        passwordHash: passwordHash ?? null,
      });
      return wasCreated ? cookie : null;
    },
    verifySession: async (cookie) => {
      if (!COOKIE.test(cookie)) return null;
      const hash = hashCookie(cookie);
      const session = await cache.get(hash, () => store.use(hash));
      return session !== null && session.expiresAt > now() ? session : null;
    },
    listSessions: store.list,
    revokeSession: async (userId, id) => {
      const wasRevoked = await store.revoke(userId, id);
      cache.clear();
      return wasRevoked;
    },
    forgetSessions: cache.clear,
  };
}

function hashCookie(cookie: string): string {
  return createHash("sha256").update(cookie).digest("base64url");
}
