import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { noteAudit } from "./audit/trail.ts";
import { requireRoom } from "./base/bounds.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";

/** An access key of an application; times in milliseconds since the epoch, null: never. */
export interface AccessKeyRecord {
  /** The public half; the secret is not stored. */
  readonly id: string;
  readonly applicationId: string;
  /** Empty: it has none. */
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** The key that it was rotated to; null: it was not. */
  readonly replacedBy: string | null;
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

/** A key to be stored. */
interface NewAccessKey {
  readonly id: string;
  /** SHA-256 in hex. */
  readonly secretHash: string;
  /** Default: none. */
  readonly name?: string;
  /** Default: never. */
  readonly expiresInDays?: number;
}

/** From which key to which. */
interface Rotation {
  readonly former: string;
  readonly next: Pick<NewAccessKey, "id" | "secretHash">;
  /** For so long the former key goes on. */
  readonly hours: number;
}

/** Access keys of applications. */
export interface AccessKeyStore {
  /** Stores a key. Null when the application is not the organisation's. @throws Problem QUOTA_EXCEEDED */
  readonly create: (
    organisationId: string,
    applicationId: string,
    key: NewAccessKey,
  ) => Promise<AccessKeyRecord | null>;
  /**
   * Stores a key with the name and the life of another one, which ends some time later.
   *
   * @throws Problem QUOTA_EXCEEDED
   */
  readonly rotate: (
    organisationId: string,
    applicationId: string,
    rotation: Rotation,
  ) => Promise<AccessKeyRecord | "no such key" | "rotated before">;
  /** Newest first, revoked keys included; null when the application is not the organisation's. */
  readonly list: (
    organisationId: string,
    applicationId: string,
    page: PageRequest,
  ) => Promise<Page<AccessKeyRecord> | null>;
  /** How many keys of the application are neither revoked nor expired; 0 when it is not the organisation's. */
  readonly countActive: (organisationId: string, applicationId: string) => Promise<number>;
  /** Revokes a key. False when there was no such active key. */
  readonly revoke: (organisationId: string, applicationId: string, id: string) => Promise<boolean>;
  /** For the token endpoint, which knows only the key id, so of any organisation. Null: unknown, revoked or expired. */
  readonly findActive: (id: string) => Promise<ActiveAccessKey | null>;
  /** Stores that the key was just exchanged for a token, at most once a minute. */
  readonly touch: (id: string) => Promise<void>;
}

const COLUMNS = `k.id, k.application_id as "applicationId", k.name, k.replaced_by as "replacedBy",
  ${selectMilliseconds("k.created_at")} as "createdAt", ${selectMilliseconds("k.expires_at")} as "expiresAt",
  ${selectMilliseconds("k.revoked_at")} as "revokedAt", ${selectMilliseconds("k.last_used_at")} as "lastUsedAt"`;

const IS_OWN = `exists (select 1 from application a
  where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null)`;

const IS_ACTIVE = "revoked_at is null and (expires_at is null or expires_at > now())";

/** The store of access keys in PostgreSQL. */
export function createAccessKeyStore(database: Database): AccessKeyStore {
  return {
    create: (organisationId, applicationId, key) =>
      database.transaction((run) => insertKey(run, organisationId, applicationId, key)),
    rotate: (organisationId, applicationId, rotation) =>
      database.transaction((run) => rotateKey(run, organisationId, applicationId, rotation)),
    list: (organisationId, applicationId, page) => listKeys(database, organisationId, applicationId, page),
    countActive: (organisationId, applicationId) =>
      countActive(database.query, organisationId, applicationId),
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
  run: RunStatement,
  organisationId: string,
  applicationId: string,
  { id, secretHash, name = "", expiresInDays }: NewAccessKey,
): Promise<AccessKeyRecord | null> {
  if (!isUuid(applicationId)) return null;
  await requireRoomForKey(run, organisationId, applicationId);
  const [row] = await run<AccessKeyRecord>({
    text: `insert into access_key as k (id, application_id, secret_hash, name, expires_at)
      select $3, $1, $4, $5, now() + make_interval(days => $6) where ${IS_OWN} returning ${COLUMNS}`,
    values: [applicationId, organisationId, id, secretHash, name, expiresInDays ?? null],
    audited: ["access-key.create"],
  });
  return row ?? null;
}

/** Two requests for one application count one after the other, until the end of the transaction. */
async function requireRoomForKey(
  run: RunStatement,
  organisationId: string,
  applicationId: string,
): Promise<void> {
  await run({
    text: "select id from application where id = $1 and organisation_id = $2 for no key update",
    values: [applicationId, organisationId],
  });
  await requireRoom(run, "accessKeys", {
    text: `from access_key where application_id = $1 and ${IS_ACTIVE} and ${IS_OWN}`,
    values: [applicationId, organisationId],
  });
}

/** One statement: of two at the same time the second waits for the row, and finds it rotated. */
async function rotateKey(
  run: RunStatement,
  organisationId: string,
  applicationId: string,
  { former, next, hours }: Rotation,
): Promise<AccessKeyRecord | "no such key" | "rotated before"> {
  if (!isUuid(applicationId)) return "no such key";
  await requireRoomForKey(run, organisationId, applicationId);
  noteAudit({ changes: [{ field: "replacedBy", before: null, after: next.id }] });
  const [row] = await run<AccessKeyRecord>({
    text: `with found as (
        select id, name, expires_at - created_at as life from access_key
        where id = $3 and application_id = $1 and ${IS_ACTIVE} and replaced_by is null and ${IS_OWN} for update
      ), former as (
        update access_key k set replaced_by = $4, expires_at = least(k.expires_at, now() + make_interval(hours => $6)),
          -- By no clock: one that is set back must not bring a key back that leaked.
          revoked_at = case when $6 = 0 then now() end
        from found where k.id = found.id returning k.application_id
      ), told as (
        select pg_notify('${ACCESS_CHANNEL}', 'application:' || application_id) from former
      ), made as (
        insert into access_key as k (id, application_id, secret_hash, name, expires_at)
        select $4, $1, $5, found.name, now() + found.life from found, told returning ${COLUMNS}
      ) select * from made`,
    values: [applicationId, organisationId, former, next.id, next.secretHash, hours],
    audited: ["access-key.rotate"],
  });
  if (row !== undefined) return row;
  const [known] = await run({
    text: `select id from access_key where id = $3 and application_id = $1 and replaced_by is not null and ${IS_OWN}`,
    values: [applicationId, organisationId, former],
    idempotent: true,
  });
  return known === undefined ? "no such key" : "rotated before";
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
  run: RunStatement,
  organisationId: string,
  applicationId: string,
): Promise<number> {
  if (!isUuid(applicationId)) return 0;
  const [row] = await run<{ count: number }>({
    text: `select count(*)::int as count from access_key where application_id = $1 and ${IS_ACTIVE} and ${IS_OWN}`,
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
    audited: ["access-key.revoke"],
  });
  return rows.length > 0;
}

async function findActive(database: Database, id: string): Promise<ActiveAccessKey | null> {
  const [row] = await database.query<ActiveAccessKey>({
    name: "access-key-find-active",
    text: `select k.id, k.application_id as "applicationId", a.organisation_id as "organisationId",
        k.secret_hash as "secretHash"
      from access_key k join application a on a.id = k.application_id
      where k.id = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
        and a.deleted_at is null`,
    values: [id],
    idempotent: true,
  });
  return row ?? null;
}
