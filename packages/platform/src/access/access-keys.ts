import { SECOND } from "@platform/engine/base/time";
import { createCache } from "@platform/engine/base/cache";
import { isAccessKeyId, isSecretOf } from "./access-key-secrets.ts";
import type { TokenSubject } from "./access-tokens.ts";
import type { ClientCredentials } from "./client-credentials.ts";
import type { AccessKeyStore, ActiveAccessKey } from "../store/access-keys.ts";
import type { Logger } from "@platform/engine/base/logger";

/**
 * For so long a gateway that missed the notification still exchanges a revoked key. The token it obtains is refused at the
 * next call.
 */
const KNOWN_TTL_MS = 5 * SECOND;
const UNKNOWN_TTL_MS = 1 * SECOND;
const TOUCHED_TTL_MS = 60 * SECOND;
/** Wrong secrets of a key are told once in this time. */
const QUIET_MS = 60 * SECOND;
const MAX_KEYS = 10_000;
/** The hash of no secret. */
const NO_HASH = "0".repeat(64);

/** Authenticates applications by their access key. */
export interface AccessKeyAuthenticator {
  /** Null for an unknown key, a revoked one, and a wrong secret. `ip`: address of the client. */
  readonly authenticate: (credentials: ClientCredentials, ip: string) => Promise<TokenSubject | null>;
  /** Drops all cached keys: some may have been revoked. */
  readonly forgetAll: () => void;
}

/** What an authenticator works with. */
export interface AccessKeyAuthenticatorOptions {
  readonly store: Pick<AccessKeyStore, "findActive" | "touch">;
  readonly logger: Logger;
  /** Told of a wrong secret for an active key, at most once a minute for each; not waited for. Default: nobody is. */
  readonly noteRefusal?: (key: ActiveAccessKey, ip: string) => Promise<void>;
  /** Milliseconds since any fixed moment; default: the cache's clock. */
  readonly now?: () => number;
}

/** Checks key id and secret. Keys are cached for seconds, so that issuing tokens seldom needs a query. */
export function createAccessKeyAuthenticator(options: AccessKeyAuthenticatorOptions): AccessKeyAuthenticator {
  const { store, logger } = options;
  const clock = options.now === undefined ? {} : { now: options.now };
  const keys = createCache<ActiveAccessKey | null>({
    ttlMs: (key) => (key ? KNOWN_TTL_MS : UNKNOWN_TTL_MS),
    maxEntries: MAX_KEYS,
    ...clock,
  });
  const refused = createCache<true>({ ttlMs: QUIET_MS, maxEntries: MAX_KEYS, ...clock });
  const touched = createCache<true>({ ttlMs: TOUCHED_TTL_MS, maxEntries: MAX_KEYS, ...clock });

  const touch = async (keyId: string): Promise<true> => {
    try {
      await store.touch(keyId);
    } catch (error) {
      logger.warn({ err: error, keyId }, "the last use of an access key could not be stored");
    }
    return true;
  };

  const refuse = async (key: ActiveAccessKey, ip: string): Promise<true> => {
    try {
      await options.noteRefusal?.(key, ip);
    } catch (error) {
      logger.warn({ err: error, keyId: key.id }, "a wrong secret could not be written in the audit log");
    }
    return true;
  };

  return {
    authenticate: async ({ clientId, clientSecret }, ip) => {
      if (!isAccessKeyId(clientId)) return null;
      const key = await keys.get(clientId, () => store.findActive(clientId));
      // The same work for a key that does not exist.
      const isRight = isSecretOf(key?.secretHash ?? NO_HASH, clientSecret);
      if (key && !isRight) void refused.get(clientId, () => refuse(key, ip));
      if (!key || !isRight) return null;
      // Not waited for: the token does not depend on it.
      void touched.get(clientId, () => touch(clientId));
      return { applicationId: key.applicationId, keyId: clientId };
    },
    forgetAll: keys.clear,
  };
}
