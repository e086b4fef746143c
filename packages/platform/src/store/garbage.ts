import type { Database } from "../postgres/database.ts";
import { removeOldKeys } from "./executions/idempotency-keys.ts";
import { removeOldDeliveries } from "./webhooks/remove-old.ts";

/** Finds out what is no longer needed. */
export interface GarbageStore {
  /** Removes failed builds, and the logs of successful ones, past the retention period; returns how many of both. */
  readonly removeOldBuilds: () => Promise<number>;
  /** Removes sessions that ended a month ago, and counters of tries to sign in and logins of programs of yesterday; returns how many. */
  readonly removeOldSignIns: () => Promise<number>;
  /** Removes personal access tokens, access keys, invitations, sessions of quantum jobs and names of deleted variables (secrets among them) that ended a month ago; returns how many. */
  readonly removeEndedAccess: () => Promise<number>;
  /** Removes files of data pools that were deleted or replaced a day ago, which no execution needs; returns how many. */
  readonly removeEndedFiles: () => Promise<number>;
  /** Removes uploads that expired, or would have, a week ago, and open ones of users who are disabled, which count for an organisation; returns how many. */
  readonly removeOldUploads: () => Promise<number>;
  /** Removes what names the objects of executions that have ended; returns how many. */
  readonly removeReadObjects: () => Promise<number>;
  /** See `removeOldDeliveries`. */
  readonly removeOldDeliveries: () => Promise<number>;
  /** Removes buckets of starts and changes that were not used for a day, which are full; returns how many. */
  readonly removeFullBuckets: () => Promise<number>;
  /** Removes idempotency keys that count for nothing any more; returns how many. */
  readonly removeOldKeys: () => Promise<number>;
}

/** At most so many builds in one round of housekeeping. */
const MAX_BUILDS = 1_000;
/** Likewise of each kind; who tries addresses at random makes many. */
const MAX_SMALL_ROWS = 100_000;
/** A start may name thousands of objects: as many rows as all starts of an hour can make are removed, so many with a statement. */
const READS_AT_ONCE = 20_000;
const MOST_READ_STATEMENTS = 500;

/** The same on PostgreSQL. */
export function createGarbageStore(database: Database, retentionDays: number): GarbageStore {
  return {
    removeOldBuilds: () => removeOldBuilds(database, retentionDays),
    removeOldSignIns: () => removeOldSignIns(database),
    removeEndedAccess: () => removeEndedAccess(database),
    removeEndedFiles: () => removeEndedFiles(database),
    removeOldUploads: () => removeOldUploads(database),
    removeReadObjects: () => removeReadObjects(database),
    removeOldDeliveries: () => removeOldDeliveries(database),
    removeFullBuckets: () => removeFullBuckets(database),
    removeOldKeys: () => removeOldKeys(database),
  };
}

async function removeOldSignIns(database: Database): Promise<number> {
  const sessions = await database.query({
    text: `delete from session where id in (
        select id from session where least(expires_at, revoked_at) < now() - interval '30 days' limit ${MAX_SMALL_ROWS}
      ) returning id`,
    idempotent: true,
  });
  const attempts = await database.query({
    text: `delete from sign_in_attempt where subject in (
        select subject from sign_in_attempt where tried_at < now() - interval '1 day' limit ${MAX_SMALL_ROWS}
      ) and tried_at < now() - interval '1 day' returning subject`,
    idempotent: true,
  });
  const devices = await database.query({
    text: `delete from device_login where id in (
        select id from device_login where expires_at < now() - interval '1 day' limit ${MAX_SMALL_ROWS}
      ) returning id`,
    idempotent: true,
  });
  return sessions.length + attempts.length + devices.length;
}

const MONTH_AGO = "now() - interval '30 days'";

/** What another row refers to stays until that one is gone: tokens made with a token, a key that replaced another. */
const ENDED_ACCESS = [
  `delete from personal_access_token where id in (
      select t.id from personal_access_token t where least(t.expires_at, t.revoked_at) < ${MONTH_AGO}
        and not exists (select 1 from personal_access_token child where child.parent_id = t.id) limit ${MAX_SMALL_ROWS}
    ) returning id`,
  `delete from access_key where id in (
      select k.id from access_key k where least(k.expires_at, k.revoked_at) < ${MONTH_AGO}
        and not exists (select 1 from access_key former where former.replaced_by = k.id) limit ${MAX_SMALL_ROWS}
    ) returning id`,
  `delete from invitation where id in (
      select id from invitation where least(expires_at, accepted_at, revoked_at) < ${MONTH_AGO} limit ${MAX_SMALL_ROWS}
    ) returning id`,
  `delete from quantum_session where id in (
      select id from quantum_session where least(expires_at, closed_at) < ${MONTH_AGO} limit ${MAX_SMALL_ROWS}
    ) returning id`,
  `delete from variable where (scope_id, name) in (
      select scope_id, name from variable where num_nonnulls(sealed, value) = 0 and changed_at < ${MONTH_AGO} limit ${MAX_SMALL_ROWS}
    ) and num_nonnulls(sealed, value) = 0 returning name`,
] as const;

async function removeEndedAccess(database: Database): Promise<number> {
  let removed = 0;
  for (const text of ENDED_ACCESS) removed += (await database.query({ text, idempotent: true })).length;
  return removed;
}

async function removeEndedFiles(database: Database): Promise<number> {
  const rows = await database.query({
    text: `delete from pool_file where id in (
        select id from pool_file where ended_at < now() - interval '1 day' limit ${MAX_SMALL_ROWS}
      ) returning id`,
    idempotent: true,
  });
  return rows.length;
}

async function removeOldUploads(database: Database): Promise<number> {
  const rows = await database.query({
    text: `delete from pool_upload where id in (
        select id from pool_upload where expires_at < now() - interval '7 days' limit ${MAX_SMALL_ROWS}
      ) returning id`,
    idempotent: true,
  });
  // Operators disable users with a statement of their own.
  const given = await database.query({
    text: `delete from pool_upload p using platform_user u
      where u.id = p.created_by and u.disabled_at is not null and p.stored_at is null returning p.id`,
    idempotent: true,
  });
  return rows.length + given.length;
}

async function removeReadObjects(database: Database): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MOST_READ_STATEMENTS; count++) {
    const rows = await database.query({
      text: `delete from execution_object where (execution_id, role) in (
          select x.execution_id, x.role from execution_object x
          where not exists (select 1 from execution e where e.id = x.execution_id and e.status in ('PENDING', 'RUNNING'))
          limit ${READS_AT_ONCE}
        ) returning execution_id`,
      idempotent: true,
    });
    removed += rows.length;
    if (rows.length < READS_AT_ONCE) break;
  }
  return removed;
}

async function removeFullBuckets(database: Database): Promise<number> {
  const rows = await database.query({
    text: `delete from start_bucket where subject in (
        select subject from start_bucket where at < now() - interval '1 day' limit ${MAX_SMALL_ROWS}
      ) and at < now() - interval '1 day' returning subject`,
    idempotent: true,
  });
  return rows.length;
}

async function removeOldBuilds(database: Database, retentionDays: number): Promise<number> {
  const failed = await database.query({
    text: `delete from build where id in (
        select id from build where status = 'FAILED' and ended_at < now() - make_interval(days => $1) order by id limit ${MAX_BUILDS}
      ) returning id`,
    values: [retentionDays],
    idempotent: true,
  });
  const logs = await database.query({
    text: `with old as (
        select b.id from build b
        where b.status = 'SUCCEEDED' and b.ended_at < now() - make_interval(days => $1)
          and exists (select 1 from build_log l where l.build_id = b.id)
        order by b.id limit ${MAX_BUILDS}
      ), removed as (
        delete from build_log l using old where l.build_id = old.id
      ) select id from old`,
    values: [retentionDays],
    idempotent: true,
  });
  return failed.length + logs.length;
}
