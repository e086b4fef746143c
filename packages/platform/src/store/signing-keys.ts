import type { Database } from "../postgres/database.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { FIRST_KEY_LOCK } from "../postgres/locks.ts";

/** A signing key of access tokens. */
export interface SigningKeyRecord {
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  readonly publicJwk: Record<string, unknown>;
  /** Encrypted by the caller: the database never has the key in clear text. */
  readonly privateJwkEncrypted: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Signing keys that are not retired. */
export interface SigningKeyStore {
  /** Newest first. The first one signs, all of them verify. */
  readonly list: () => Promise<readonly SigningKeyRecord[]>;
  /**
   * Adds the key if there is none yet, and returns the one that signs: processes that start at the same time on an empty
   * database get the same key.
   */
  readonly insertFirst: (key: Omit<SigningKeyRecord, "createdAt">) => Promise<SigningKeyRecord>;
  /** Adds a key that signs from now on (rotation). */
  readonly insert: (key: Omit<SigningKeyRecord, "createdAt">) => Promise<void>;
  /** Takes a key out of `list`: tokens that it signed are no longer accepted. */
  readonly retire: (kid: string) => Promise<void>;
}

const COLUMNS = `kid, public_jwk as "publicJwk", private_jwk_encrypted as "privateJwkEncrypted",
  ${selectMilliseconds("created_at")} as "createdAt"`;

const LIST = `select ${COLUMNS} from signing_key where retired_at is null order by created_at desc, kid desc`;

/** The store of signing keys in PostgreSQL. */
export function createSigningKeyStore(database: Database): SigningKeyStore {
  return {
    list: () => database.query<SigningKeyRecord>({ text: LIST, idempotent: true }),
    insertFirst: (key) => insertFirst(database, key),
    insert: async (key) => {
      await database.query({
        text: "insert into signing_key (kid, public_jwk, private_jwk_encrypted) values ($1, $2, $3) on conflict do nothing",
        values: [key.kid, JSON.stringify(key.publicJwk), key.privateJwkEncrypted],
        idempotent: true,
      });
    },
    retire: async (kid) => {
      await database.query({
        text: `with retired as (
            update signing_key set retired_at = now() where kid = $1 and retired_at is null returning kid
          ) select pg_notify('${ACCESS_CHANNEL}', 'signing-keys') from retired`,
        values: [kid],
        idempotent: true,
      });
    },
  };
}

async function insertFirst(
  database: Database,
  key: Omit<SigningKeyRecord, "createdAt">,
): Promise<SigningKeyRecord> {
  return database.transaction(async (run) => {
    await run({ text: "select pg_advisory_xact_lock($1)", values: [FIRST_KEY_LOCK] });
    await run({
      text: `insert into signing_key (kid, public_jwk, private_jwk_encrypted) select $1, $2::jsonb, $3
        where not exists (select 1 from signing_key where retired_at is null)`,
      values: [key.kid, JSON.stringify(key.publicJwk), key.privateJwkEncrypted],
    });
    const [first] = await run<SigningKeyRecord>({ text: LIST });
    if (first === undefined) throw new Error("There is no signing key after one was inserted.");
    return first;
  });
}
