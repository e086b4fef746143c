import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from "jose";
import type { CryptoKey, JWK } from "jose";
import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import type { SigningKeyRecord, SigningKeyStore } from "../store/signing-keys.ts";
import { createSigningKeyRing } from "../secrets/key-ring.ts";
import type { KeyRing, PlatformSecret } from "../secrets/key-ring.ts";

/** Lifetime of an access token. Grants are checked at every call, so a revocation takes effect before it ends. */
export const ACCESS_TOKEN_SECONDS = 3_600;

/** The one algorithm of access tokens; every check pins it. */
export const SIGNING_ALGORITHM = "ES256";

/** The key that signs. */
interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
}

/** The platform's signing keys, cached for seconds. All throw when the store cannot be read. */
export interface SigningKeys {
  /** The key to sign with, as the store says. Creates the first one. */
  readonly current: () => Promise<SigningKey>;
  /** Whether this id is in the cache, which is at most FRESH_MS old; false: ask `findPublicKey`. */
  readonly isTrusted: (kid: string) => boolean;
  /** Drops the cache: a key was retired. */
  readonly forget: () => void;
  /** Public key of this id; null: there is none. An unknown id causes a query, at most one in MIN_RELOAD_MS. */
  readonly findPublicKey: (kid: string) => Promise<CryptoKey | null>;
  /** JSON Web Key Set (RFC 7517) of all public keys. */
  readonly readJwks: () => Promise<{ readonly keys: readonly JWK[] }>;
  /** The same of the keys of receipts: also of those that are retired, but for such as may have leaked. */
  readonly readReceiptJwks: () => Promise<{ readonly keys: readonly JWK[] }>;
}

/** What the signing keys are read with. */
export interface SigningKeysOptions {
  readonly store: Pick<SigningKeyStore, "list" | "insertFirst" | "listForReceipts">;
  /** The platform's secret; private keys are encrypted with a key derived from it. */
  readonly secret: PlatformSecret;
  /** Current time in milliseconds; default: the monotonic clock, so that no cached key grows young where a clock is set back. */
  readonly now?: () => number;
}

interface LoadedKeys {
  readonly loadedAt: number;
  readonly current: SigningKey;
  readonly publicKeys: ReadonlyMap<string, CryptoKey>;
  readonly jwks: readonly JWK[];
}

/** A new signing key is used, and a retired one refused, within this time; at once when the notification arrives. */
const FRESH_MS = 5_000;
/** Tokens with made-up key ids cause at most one query in this time. */
const MIN_RELOAD_MS = 1_000;

/** Reads signing keys from the store and keeps them for seconds. */
export function createSigningKeys(options: SigningKeysOptions): SigningKeys {
  const now = options.now ?? readMonotonic;
  const ring = createSigningKeyRing(options.secret);
  const ofReceipts = createCache<readonly JWK[]>({ maxEntries: 1, ttlMs: FRESH_MS, now });
  let loaded: LoadedKeys | null = null;
  let loading: Promise<LoadedKeys> | null = null;

  const reload = (): Promise<LoadedKeys> => {
    if (loading !== null) return loading;
    const load = loadKeys(options.store, ring, now)
      .then((keys) => {
        // `forget` was called meanwhile: this was read before the change and must not be kept.
        if (loading === load) loaded = keys;
        return keys;
      })
      .finally(() => {
        if (loading === load) loading = null;
      });
    loading = load;
    return load;
  };
  const loadWithin = async (maxAge: number): Promise<LoadedKeys> =>
    loaded && now() - loaded.loadedAt < maxAge ? loaded : await reload();

  const isTrusted = (kid: string): boolean =>
    loaded !== null && now() - loaded.loadedAt < FRESH_MS && loaded.publicKeys.has(kid);

  return {
    current: async () => (await loadWithin(FRESH_MS)).current,
    isTrusted,
    forget: () => {
      ofReceipts.clear();
      loaded = null;
      loading = null;
    },
    findPublicKey: async (kid) => {
      const { publicKeys } = await loadWithin(isTrusted(kid) ? FRESH_MS : MIN_RELOAD_MS);
      return publicKeys.get(kid) ?? null;
    },
    readJwks: async () => ({ keys: (await loadWithin(FRESH_MS)).jwks }),
    readReceiptJwks: async () => ({
      keys: await ofReceipts.get("", async () => {
        // The first key may not be there yet.
        await loadWithin(FRESH_MS);
        return (await options.store.listForReceipts()).map(describePublicKey);
      }),
    }),
  };
}

/** What becomes of the keys that a new one replaces: they verify until the tokens that they signed have ended, or no longer. */
export type Retirement = "when unused" | "now";

/** More than a token lives after the last moment at which a former key signs, which is when the new one has settled. */
const UNUSED_AFTER_SECONDS = ACCESS_TOKEN_SECONDS + 10 * 60;

/** Makes a new key. Returns the ids of the keys that it replaces; those retired now are refused by every gateway within a second. */
export async function rotateSigningKey(
  store: Pick<SigningKeyStore, "rotate">,
  secret: PlatformSecret,
  retirement: Retirement,
): Promise<readonly string[]> {
  const key = await createKey(createSigningKeyRing(secret));
  return await store.rotate(key, retirement === "now" ? 0 : UNUSED_AFTER_SECONDS);
}

async function loadKeys(
  store: SigningKeysOptions["store"],
  ring: KeyRing,
  now: () => number,
): Promise<LoadedKeys> {
  const loadedAt = now();
  const found = await store.list();
  const stored = found.length > 0 ? found : [await store.insertFirst(await createKey(ring))];
  const [first] = stored;
  if (!first) throw new Error("There is no signing key after one was stored.");
  const publicJwks = stored.map((key) => [key.kid, readPublicJwk(key)] as const);
  return {
    loadedAt,
    current: { kid: first.kid, privateKey: await openPrivateKey(first, ring) },
    publicKeys: new Map(
      await Promise.all(publicJwks.map(async ([kid, jwk]) => [kid, await importKey(jwk)] as const)),
    ),
    jwks: stored.map(describePublicKey),
  };
}

async function createKey(ring: KeyRing): Promise<Omit<SigningKeyRecord, "createdAt">> {
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const privateJwk = JSON.stringify(await exportJWK(pair.privateKey));
  return { kid, publicJwk: { ...publicJwk }, privateJwkEncrypted: ring.seal(privateJwk, kid) };
}

function describePublicKey(key: Pick<SigningKeyRecord, "kid" | "publicJwk">): JWK {
  return { ...readPublicJwk(key), kid: key.kid, alg: SIGNING_ALGORITHM, use: "sig" };
}

/** Picks the public members by name, so that nothing else of a stored key can be published. */
function readPublicJwk({
  kid,
  publicJwk: { kty, crv, x, y },
}: Pick<SigningKeyRecord, "kid" | "publicJwk">): JWK {
  if (typeof kty !== "string" || typeof crv !== "string" || typeof x !== "string" || typeof y !== "string") {
    throw new Error(`The signing key ${kid} is not an elliptic curve key.`);
  }
  return { kty, crv, x, y };
}

async function openPrivateKey(key: SigningKeyRecord, ring: KeyRing): Promise<CryptoKey> {
  let text: string;
  try {
    text = ring.open(key.privateJwkEncrypted, key.kid, null);
  } catch (cause) {
    throw new Error(
      `The signing key ${key.kid} cannot be decrypted: the platform's secret is not the one it was stored with.`,
      { cause },
    );
  }
  return await importKey({ ...readPublicJwk(key), d: readPrivatePart(JSON.parse(text)) });
}

function readPrivatePart(jwk: unknown): string {
  if (typeof jwk === "object" && jwk !== null && "d" in jwk && typeof jwk.d === "string") return jwk.d;
  throw new Error("A stored signing key has no private part.");
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, SIGNING_ALGORITHM);
  if (key instanceof Uint8Array) throw new Error("A signing key must be a key pair, not a shared secret.");
  return key;
}
