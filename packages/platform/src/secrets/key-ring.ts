import { createHash } from "node:crypto";
import { deriveKey, seal, unseal } from "./seal.ts";

/** The platform's secret, and former ones while something may still be sealed with their keys. */
export interface PlatformSecret {
  readonly current: string;
  readonly former: readonly string[];
}

/** Keys of one purpose: that of the current secret seals, all of them open. */
export interface KeyRing {
  /** Names the key that seals, and tells nothing of it. */
  readonly keyId: string;
  readonly seal: (plaintext: string, context: string) => string;
  /** `keyId` null: not known, so each key is tried. @throws UnknownKeyError; Error for another context, and for changed bytes */
  readonly open: (sealed: string, context: string, keyId: string | null) => string;
}

/** Something was sealed with a key that is not on the ring. */
export class UnknownKeyError extends Error {}

/** Derives the keys of one purpose. */
export function createKeyRing({ current, former }: PlatformSecret, purpose: string): KeyRing {
  const [own, ...others] = [current, ...former].map((secret) => {
    const key = deriveKey(secret, purpose);
    return { id: createHash("sha256").update(key).digest("hex").slice(0, 16), key };
  });
  if (own === undefined) throw new Error("A key ring needs a secret.");
  const keys = [own, ...others];
  return {
    keyId: own.id,
    seal: (plaintext, context) => seal(own.key, plaintext, context),
    open: (sealed, context, keyId) => {
      let cause: unknown = new UnknownKeyError("It was sealed with a key of another secret.");
      for (const { id, key } of keys) {
        if (keyId !== null && id !== keyId) continue;
        try {
          return unseal(key, sealed, context);
        } catch (error) {
          cause = error;
        }
      }
      throw cause;
    },
  };
}
