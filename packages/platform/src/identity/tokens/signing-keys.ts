import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from "jose";
import type { CryptoKey, JWK } from "jose";
import { deriveKey, seal, unseal } from "../secrets.ts";

/** The one algorithm of access tokens; every check pins it. */
export const SIGNING_ALGORITHM = "ES256";

/** A key pair as it is stored: the private half encrypted. */
export interface StoredSigningKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly sealedPrivateJwk: string;
}

/** Where signing keys live. */
export interface SigningKeyStore {
  /** Newest first; the newest signs, all of them verify. */
  readonly list: () => Promise<readonly StoredSigningKey[]>;
  /** Keeps the key unless there is one already; of several processes that race, one wins. */
  readonly insertFirst: (key: StoredSigningKey) => Promise<void>;
}

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
}

export interface SigningKeys {
  readonly current: () => Promise<SigningKey>;
  /** Public key of this id, or null. An unknown id makes it look into the store, but at a bounded rate. */
  readonly findPublicKey: (kid: string) => Promise<CryptoKey | null>;
  /** JSON Web Key Set (RFC 7517) of all public keys. */
  readonly readJwks: () => Promise<{ readonly keys: readonly JWK[] }>;
}

export interface SigningKeysOptions {
  readonly store: SigningKeyStore;
  readonly secret: string;
  readonly now?: () => number;
}

interface LoadedKeys {
  readonly loadedAt: number;
  readonly current: SigningKey;
  readonly publicKeys: ReadonlyMap<string, CryptoKey>;
  readonly jwks: readonly JWK[];
}

/** A new signing key is taken into use within this time. */
const REFRESH_MS = 60_000;
/** Tokens with made-up key ids cost the database at most one query in this time. */
const MIN_RELOAD_MS = 1_000;

export function createSigningKeys(options: SigningKeysOptions): SigningKeys {
  const now = options.now ?? Date.now;
  const sealingKey = deriveKey(options.secret, "signing-keys");
  let loaded: LoadedKeys | null = null;
  let loading: Promise<LoadedKeys> | null = null;

  const reload = (): Promise<LoadedKeys> => {
    loading ??= loadKeys(options.store, sealingKey, now)
      .then((keys) => (loaded = keys))
      .finally(() => {
        loading = null;
      });
    return loading;
  };
  const loadWithin = async (maxAge: number): Promise<LoadedKeys> =>
    loaded && now() - loaded.loadedAt < maxAge ? loaded : await reload();

  return {
    current: async () => (await loadWithin(REFRESH_MS)).current,
    findPublicKey: async (kid) => {
      const known = loaded?.publicKeys.get(kid);
      if (known) return known;
      return (await loadWithin(MIN_RELOAD_MS)).publicKeys.get(kid) ?? null;
    },
    readJwks: async () => ({ keys: (await loadWithin(REFRESH_MS)).jwks }),
  };
}

async function loadKeys(store: SigningKeyStore, sealingKey: Buffer, now: () => number): Promise<LoadedKeys> {
  const loadedAt = now();
  let stored = await store.list();
  if (stored.length === 0) {
    await store.insertFirst(await createStoredKey(sealingKey));
    stored = await store.list();
  }
  const [newest] = stored;
  if (!newest) throw new Error("The signing key that was just stored is not there.");
  const publicKeys = await Promise.all(
    stored.map(async (key) => [key.kid, await importKey(key.publicJwk)] as const),
  );
  return {
    loadedAt,
    current: { kid: newest.kid, privateKey: await openPrivateKey(newest, sealingKey) },
    publicKeys: new Map(publicKeys),
    jwks: stored.map((key) => ({ ...key.publicJwk, kid: key.kid, alg: SIGNING_ALGORITHM, use: "sig" })),
  };
}

async function createStoredKey(sealingKey: Buffer): Promise<StoredSigningKey> {
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const privateJwk = JSON.stringify(await exportJWK(pair.privateKey));
  return { kid, publicJwk, sealedPrivateJwk: seal(sealingKey, privateJwk, kid) };
}

async function openPrivateKey(key: StoredSigningKey, sealingKey: Buffer): Promise<CryptoKey> {
  let text: string;
  try {
    text = unseal(sealingKey, key.sealedPrivateJwk, key.kid);
  } catch (cause) {
    throw new Error(
      `The signing key ${key.kid} cannot be decrypted: the platform's secret is not the one it was stored with.`,
      { cause },
    );
  }
  return await importKey(JSON.parse(text) as JWK);
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, SIGNING_ALGORITHM);
  if (key instanceof Uint8Array) throw new Error("A signing key must be a key pair, not a shared secret.");
  return key;
}
