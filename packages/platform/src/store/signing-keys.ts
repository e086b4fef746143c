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

/** A key to be stored. */
type NewSigningKey = Omit<SigningKeyRecord, "createdAt">;

/** Signing keys that are not retired. */
export interface SigningKeyStore {
  /**
   * The first one signs, all of them verify. The first is the newest that all who verify have had time to read; where there is none,
   * the oldest.
   */
  readonly list: () => Promise<readonly SigningKeyRecord[]>;
  /**
   * Adds the key if there is none yet, and returns the one that signs: processes that start at the same time on an empty
   * database get the same key.
   */
  readonly insertFirst: (key: NewSigningKey) => Promise<SigningKeyRecord>;
  /**
   * Adds a key, and retires all others after so many seconds, in one statement: `list` is without them from then on. Returns their ids. With 0, all
   * former ones are withdrawn as well, whenever they were retired: `listForReceipts` is without them.
   */
  readonly rotate: (key: NewSigningKey, retiredInSeconds: number) => Promise<readonly string[]>;
  /** The public halves of all keys whose receipts count, also of retired ones; the newest first. */
  readonly listForReceipts: () => Promise<readonly Pick<SigningKeyRecord, "kid" | "publicJwk">[]>;
  /** Replaces the sealed private half by the same one sealed anew. */
  readonly reseal: (former: SigningKeyRecord, privateJwkEncrypted: string) => Promise<void>;
}

const COLUMNS = `kid, public_jwk as "publicJwk", private_jwk_encrypted as "privateJwkEncrypted",
  ${selectMilliseconds("created_at")} as "createdAt"`;

/** For so long a new key only verifies: gateways look for keys every few seconds, others keep the published ones for a minute. */
const SETTLED = "created_at < now() - interval '2 minutes'";

/** What is withdrawn is so by no clock: one that is set back must not bring a key back that leaked. */
const IS_TRUSTED = "not is_withdrawn and (retired_at is null or retired_at > now())";

const LIST = `select ${COLUMNS} from signing_key where ${IS_TRUSTED}
  order by ${SETTLED} desc, extract(epoch from created_at) * case when ${SETTLED} then -1 else 1 end, kid desc`;

/** The store of signing keys in PostgreSQL. */
export function createSigningKeyStore(database: Database): SigningKeyStore {
  return {
    list: () => database.query<SigningKeyRecord>({ text: LIST, idempotent: true }),
    insertFirst: (key) => insertFirst(database, key),
    listForReceipts: () =>
      database.query<SigningKeyRecord>({
        text: `select kid, public_jwk as "publicJwk" from signing_key where not is_withdrawn order by created_at desc, kid desc`,
        idempotent: true,
      }),
    rotate: (key, retiredInSeconds) => rotate(database, key, retiredInSeconds),
    reseal: async ({ kid, privateJwkEncrypted: former }, sealed) => {
      await database.query({
        text: "update signing_key set private_jwk_encrypted = $3 where kid = $1 and private_jwk_encrypted = $2",
        values: [kid, former, sealed],
      });
    },
  };
}

async function rotate(
  database: Database,
  key: NewSigningKey,
  retiredInSeconds: number,
): Promise<readonly string[]> {
  const rows = await database.query<{ kid: string | null }>({
    text: `with added as (
        insert into signing_key (kid, public_jwk, private_jwk_encrypted) values ($1, $2, $3)
      ), former as (
        select kid from signing_key where ${IS_TRUSTED}
      ), retired as (
        update signing_key set retired_at = least(retired_at, now() + make_interval(secs => $4)), is_withdrawn = is_withdrawn or $4 = 0
        where retired_at is null or retired_at > now() or $4 = 0
      ), told as (
        select pg_notify('${ACCESS_CHANNEL}', 'signing-keys')
      ) select kid from told left join former on true`,
    values: [key.kid, JSON.stringify(key.publicJwk), key.privateJwkEncrypted, retiredInSeconds],
  });
  return rows.flatMap(({ kid }) => kid ?? []);
}

async function insertFirst(database: Database, key: NewSigningKey): Promise<SigningKeyRecord> {
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
