import { createHash } from "node:crypto";
import { deriveKey, seal, unseal } from "./seal.ts";

/** The platform's secret, and others while something may still be sealed with their keys. */
export interface PlatformSecret {
  readonly current: string;
  readonly others: readonly string[];
}

/** Keys of one purpose: that of the current secret seals, all of them open. */
export interface KeyRing {
  /** Names the key that seals, and tells nothing of it. */
  readonly keyId: string;
  readonly seal: (plaintext: string, context: string) => string;
  /** `keyId` null: not known, so each key is tried. @throws UnknownKeyError; Error for another context, and for changed bytes */
  readonly open: (sealed: string, context: string, keyId: string | null) => string;
  /** Seals with the current key what is sealed with another; null: it is sealed with the current one. @throws as `open` */
  readonly reseal: (sealed: string, context: string, keyId: string | null) => Resealed | null;
}

/** What `KeyRing.reseal` made. */
interface Resealed {
  readonly sealed: string;
  readonly keyId: string;
}

/** Something was sealed with a key that is not on the ring. */
export class UnknownKeyError extends Error {}

/** The keys of secrets of services and organisations; a value is bound to its place (`bindSecret`). */
export function createSecretRing(secret: PlatformSecret): KeyRing {
  return createKeyRing(secret, "service-secrets");
}

/** The keys of private signing keys; what is sealed is bound to the id of the key. */
export function createSigningKeyRing(secret: PlatformSecret): KeyRing {
  return createKeyRing(secret, "signing-keys");
}

/** The keys of secrets of webhooks; what is sealed is bound to the id of the webhook. */
export function createWebhookRing(secret: PlatformSecret): KeyRing {
  return createKeyRing(secret, "webhooks");
}

/** Derives the keys of one purpose. */
function createKeyRing({ current, others }: PlatformSecret, purpose: string): KeyRing {
  const [own, ...rest] = [current, ...others].map((secret) => {
    const key = deriveKey(secret, purpose);
    return { id: createHash("sha256").update(key).digest("hex").slice(0, 16), key };
  });
  if (own === undefined) throw new Error("A key ring needs a secret.");
  const keys = [own, ...rest];
  const open = (sealed: string, context: string, keyId: string | null) => {
    let cause: unknown = new UnknownKeyError("It was sealed with a key of another secret.");
    for (const { id, key } of keys) {
      if (keyId !== null && id !== keyId) continue;
      try {
        return { id, plaintext: unseal(key, sealed, context) };
      } catch (error) {
        cause = error;
      }
    }
    throw cause;
  };
  return {
    keyId: own.id,
    seal: (plaintext, context) => seal(own.key, plaintext, context),
    open: (sealed, context, keyId) => open(sealed, context, keyId).plaintext,
    reseal: (sealed, context, keyId) => {
      const { id, plaintext } = open(sealed, context, keyId);
      return id === own.id ? null : { sealed: seal(own.key, plaintext, context), keyId: own.id };
    },
  };
}
