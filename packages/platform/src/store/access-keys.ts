import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";

/** An access key of an application; times in milliseconds since the epoch, null: never. */
export interface AccessKeyRecord {
  /** The public half; the secret is not stored. */
  readonly id: string;
  readonly applicationId: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** What the token endpoint needs to check a secret. */
export interface ActiveAccessKey {
  readonly id: string;
  readonly applicationId: string;
  readonly organisationId: string;
  readonly secretHash: string;
}

/** Access keys of applications. */
export interface AccessKeyStore {
  /** Stores a key. Null when the application is not the organisation's. */
  readonly create: (
    organisationId: string,
    applicationId: string,
    key: { readonly id: string; readonly secretHash: string },
  ) => Promise<AccessKeyRecord | null>;
  /** Newest first, revoked keys included; null when the application is not the organisation's. */
  readonly list: (
    organisationId: string,
    applicationId: string,
    page: PageRequest,
  ) => Promise<Page<AccessKeyRecord> | null>;
  /** How many keys of the application are not revoked; 0 when it is not the organisation's. */
  readonly countActive: (organisationId: string, applicationId: string) => Promise<number>;
  /** Revokes a key. False when there was no such active key. */
  readonly revoke: (organisationId: string, applicationId: string, id: string) => Promise<boolean>;
  /** For the token endpoint, which knows only the key id, so of any organisation. Null: unknown or revoked. */
  readonly findActive: (id: string) => Promise<ActiveAccessKey | null>;
  /** Stores that the key was just exchanged for a token, at most once a minute. */
  readonly touch: (id: string) => Promise<void>;
}

const COLUMNS = `k.id, k.application_id as "applicationId", ${selectMilliseconds("k.created_at")} as "createdAt",
  ${selectMilliseconds("k.revoked_at")} as "revokedAt", ${selectMilliseconds("k.last_used_at")} as "lastUsedAt"`;

const IS_OWN = `exists (select 1 from application a
  where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null)`;

/** The store of access keys in PostgreSQL. */
export function createAccessKeyStore(database: Database): AccessKeyStore {
  return {
    create: (organisationId, applicationId, key) => insertKey(database, organisationId, applicationId, key),
    list: (organisationId, applicationId, page) => listKeys(database, organisationId, applicationId, page),
    countActive: (organisationId, applicationId) => countActive(database, organisationId, applicationId),
    revoke: (organisationId, applicationId, id) => revokeKey(database, organisationId, applicationId, id),
    findActive: (id) => findActive(database, id),
    touch: async (id) => {
      await database.query({
        text: `update access_key set last_used_at = now()
          where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
        values: [id],
        idempotent: true,
      });
    },
  };
}

async function insertKey(
  database: Database,
  organisationId: string,
  applicationId: string,
  key: { readonly id: string; readonly secretHash: string },
): Promise<AccessKeyRecord | null> {
  if (!isUuid(applicationId)) return null;
  const [row] = await database.query<AccessKeyRecord>({
    text: `insert into access_key as k (id, application_id, secret_hash) select $3, $1, $4 where ${IS_OWN} returning ${COLUMNS}`,
    values: [applicationId, organisationId, key.id, key.secretHash],
  });
  return row ?? null;
}

async function listKeys(
  database: Database,
  organisationId: string,
  applicationId: string,
  page: PageRequest,
): Promise<Page<AccessKeyRecord> | null> {
  const [time, id] = decodeCursor(page.cursor, [(key) => /^\d{1,14}$/u.test(key), () => true]) ?? [
    null,
    null,
  ];
  if (!isUuid(applicationId)) return null;
  // At least one row when the application is the organisation's, so that "no keys" differs from "no such application".
  const rows = await database.query<AccessKeyRecord | { readonly id: null }>({
    text: `select ${COLUMNS} from application a left join lateral (
        select * from access_key k where k.application_id = a.id
          and ($3::float8 is null or (k.created_at, k.id) < (to_timestamp($3 / 1000), $4::text))
        order by k.created_at desc, k.id desc limit $5
      ) k on true
      where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null
      order by k.created_at desc, k.id desc`,
    values: [applicationId, organisationId, time, id, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const keys = rows.filter((row): row is AccessKeyRecord => row.id !== null);
  return cutPage(keys, page.limit, (row) => [String(row.createdAt), row.id]);
}

async function countActive(
  database: Database,
  organisationId: string,
  applicationId: string,
): Promise<number> {
  if (!isUuid(applicationId)) return 0;
  const [row] = await database.query<{ count: number }>({
    text: `select count(*)::int as count from access_key where application_id = $1 and revoked_at is null and ${IS_OWN}`,
    values: [applicationId, organisationId],
    idempotent: true,
  });
  return row?.count ?? 0;
}

async function revokeKey(
  database: Database,
  organisationId: string,
  applicationId: string,
  id: string,
): Promise<boolean> {
  if (!isUuid(applicationId)) return false;
  const rows = await database.query({
    text: `with gone as (
        update access_key set revoked_at = now()
        where id = $3 and application_id = $1 and revoked_at is null and ${IS_OWN} returning application_id
      ) select application_id from gone
        cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || gone.application_id)`,
    values: [applicationId, organisationId, id],
  });
  return rows.length > 0;
}

async function findActive(database: Database, id: string): Promise<ActiveAccessKey | null> {
  const [row] = await database.query<ActiveAccessKey>({
    name: "access-key-find-active",
    text: `select k.id, k.application_id as "applicationId", a.organisation_id as "organisationId",
        k.secret_hash as "secretHash"
      from access_key k join application a on a.id = k.application_id
      where k.id = $1 and k.revoked_at is null and a.deleted_at is null`,
    values: [id],
    idempotent: true,
  });
  return row ?? null;
}
