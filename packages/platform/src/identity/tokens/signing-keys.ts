import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from "jose";
import type { CryptoKey, JWK } from "jose";
import type { SigningKeyRecord, SigningKeyStore } from "../../store/signing-keys.ts";
import { deriveKey, seal, unseal } from "../secrets.ts";

/** The one algorithm of access tokens; every check pins it. */
export const SIGNING_ALGORITHM = "ES256";

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
  readonly store: Pick<SigningKeyStore, "list" | "insertFirst">;
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

async function loadKeys(
  store: SigningKeysOptions["store"],
  sealingKey: Buffer,
  now: () => number,
): Promise<LoadedKeys> {
  const loadedAt = now();
  const found = await store.list();
  const stored = found.length > 0 ? found : [await store.insertFirst(await createKey(sealingKey))];
  const [newest] = stored;
  if (!newest) throw new Error("There is no signing key after one was stored.");
  const publicJwks = stored.map((key) => [key.kid, readPublicJwk(key)] as const);
  return {
    loadedAt,
    current: { kid: newest.kid, privateKey: await openPrivateKey(newest, sealingKey) },
    publicKeys: new Map(
      await Promise.all(publicJwks.map(async ([kid, jwk]) => [kid, await importKey(jwk)] as const)),
    ),
    jwks: publicJwks.map(([kid, jwk]) => ({ ...jwk, kid, alg: SIGNING_ALGORITHM, use: "sig" })),
  };
}

async function createKey(sealingKey: Buffer): Promise<Omit<SigningKeyRecord, "createdAt">> {
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const privateJwk = JSON.stringify(await exportJWK(pair.privateKey));
  return { kid, publicJwk: { ...publicJwk }, privateJwkEncrypted: seal(sealingKey, privateJwk, kid) };
}

/** Names what is public, so that nothing else of a stored key can ever be shown. */
function readPublicJwk({ kid, publicJwk: { kty, crv, x, y } }: SigningKeyRecord): JWK {
  if (typeof kty !== "string" || typeof crv !== "string" || typeof x !== "string" || typeof y !== "string") {
    throw new Error(`The signing key ${kid} is no elliptic curve key.`);
  }
  return { kty, crv, x, y };
}

async function openPrivateKey(key: SigningKeyRecord, sealingKey: Buffer): Promise<CryptoKey> {
  let text: string;
  try {
    text = unseal(sealingKey, key.privateJwkEncrypted, key.kid);
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
