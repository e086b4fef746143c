import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { holdPool, selectSeen } from "./pool-rights.ts";
import type { PoolKey } from "./pool-rights.ts";

/** An application that may use a data pool. */
export interface PoolGrantRecord {
  readonly applicationId: string;
  readonly applicationName: string;
  readonly organisationId: string;
  readonly organisationName: string;
  readonly access: "read" | "write";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Name of the user. */
  readonly createdBy: string;
}

/** What an application is granted. */
interface NewPoolGrant extends Pick<PoolGrantRecord, "applicationId" | "access"> {
  /** Id of the user. */
  readonly createdBy: string;
}

/** Which applications may use data pools; null: the organisation that asks sees no such pool. */
export interface PoolGrantStore {
  /** By id of the application. Who does not own the pool sees the own ones only. */
  readonly list: (pool: PoolKey, page: PageRequest) => Promise<Page<PoolGrantRecord> | null>;
  /** @throws Problem FORBIDDEN, QUOTA_EXCEEDED; NOT_FOUND, CONFLICT of the application */
  readonly put: (pool: PoolKey, grant: NewPoolGrant) => Promise<PoolGrantRecord | null>;
  /** False where there is none. @throws Problem FORBIDDEN */
  readonly delete: (pool: PoolKey, applicationId: string) => Promise<boolean | null>;
}

const COLUMNS = `g.application_id as "applicationId", a.name as "applicationName", a.organisation_id as "organisationId",
  holder.name as "organisationName", g.access, ${selectMilliseconds("g.created_at")} as "createdAt", u.name as "createdBy"`;
const JOINED = `join application a on a.id = g.application_id join organisation holder on holder.id = a.organisation_id
  join platform_user u on u.id = g.created_by`;

/** The grants in PostgreSQL. */
export function createPoolGrantStore(database: Database): PoolGrantStore {
  return {
    list: (pool, page) => listGrants(database, pool, page),
    put: (pool, grant) => database.transaction((run) => putGrant(run, pool, grant)),
    delete: (pool, applicationId) => database.transaction((run) => deleteGrant(run, pool, applicationId)),
  };
}

async function listGrants(
  database: Database,
  { poolId, organisationId }: PoolKey,
  page: PageRequest,
): Promise<Page<PoolGrantRecord> | null> {
  if (!isUuid(poolId)) return null;
  const [after] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const rows = await database.query<PoolGrantRecord | { readonly applicationId: null }>({
    // One row of nulls: a pool without grants.
    text: `select grants.* from ${selectSeen("$2")} left join lateral (
        select ${COLUMNS} from data_pool_grant g ${JOINED}
        where g.pool_id = p.id and (seen.role = 'owner' or a.organisation_id = $2) and ($3::uuid is null or g.application_id > $3)
        order by g.application_id limit $4
      ) grants on true where p.id = $1 order by grants."applicationId"`,
    values: [poolId, organisationId, after, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const grants = rows.filter((row): row is PoolGrantRecord => row.applicationId !== null);
  return cutPage(grants, page.limit, (grant) => [grant.applicationId]);
}

async function putGrant(
  run: RunStatement,
  pool: PoolKey,
  { applicationId, access, createdBy }: NewPoolGrant,
): Promise<PoolGrantRecord | null> {
  // Before the pool, as when an organisation is deleted: the application is not deleted while it gets something.
  if (isUuid(applicationId))
    await run({ text: "select id from application where id = $1 for share", values: [applicationId] });
  const held = await holdPool(run, pool, ["owner"]);
  if (held === null) return null;
  await requireApplication(run, { poolId: pool.poolId, ownerId: held.organisationId, applicationId, access });
  const values = [pool.poolId, applicationId];
  const [former] = await run<Pick<PoolGrantRecord, "access">>({
    text: "select access from data_pool_grant where pool_id = $1 and application_id = $2",
    values,
  });
  if (former === undefined)
    await requireRoom(run, "poolGrants", {
      text: "from data_pool_grant where pool_id = $1",
      values: [pool.poolId],
    });
  noteAudit({ changes: [{ field: "access", before: former?.access ?? null, after: access }] });
  const [row] = await run<PoolGrantRecord>({
    text: `with g as (
        insert into data_pool_grant (pool_id, application_id, access, created_by) values ($1, $2, $3, $4)
        on conflict (pool_id, application_id) do update set access = excluded.access returning *
      ) select ${COLUMNS} from g ${JOINED}`,
    values: [...values, access, createdBy],
    audited: ["pool-grant.put"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

interface Wanted extends Pick<PoolGrantRecord, "applicationId" | "access"> {
  readonly poolId: string;
  /** The organisation of the pool. */
  readonly ownerId: string;
}

/** Of the organisation of the pool, or of one that the pool is shared with: any other is unknown. */
async function requireApplication(
  run: RunStatement,
  { poolId, ownerId, applicationId, access }: Wanted,
): Promise<void> {
  const [row] = isUuid(applicationId)
    ? await run<{ readonly isOwn: boolean; readonly role: string | null }>({
        text: `select a.organisation_id = $3 as "isOwn", s.role from application a
          left join data_pool_share s on s.organisation_id = a.organisation_id and s.pool_id = $2
          where a.id = $1 and a.deleted_at is null`,
        values: [applicationId, poolId, ownerId],
      })
    : [];
  if (row === undefined || !(row.isOwn || row.role !== null))
    throw new Problem(
      "NOT_FOUND",
      "There is no such application in your organisation or in one that the data pool is shared with.",
    );
  if (!row.isOwn && access === "write" && row.role !== "maintainer")
    throw new Problem(
      "CONFLICT",
      "The data pool is shared with the organisation of this application as viewer; grant read, or share it as maintainer first.",
    );
}

async function deleteGrant(run: RunStatement, pool: PoolKey, applicationId: string): Promise<boolean | null> {
  const held = await holdPool(run, pool, ["owner"]);
  if (held === null) return null;
  if (!isUuid(applicationId)) return false;
  const [gone] = await run<Pick<PoolGrantRecord, "access">>({
    text: "delete from data_pool_grant where pool_id = $1 and application_id = $2 returning access",
    values: [pool.poolId, applicationId],
    audited: ["pool-grant.delete"],
  });
  if (gone === undefined) return false;
  noteAudit({ changes: [{ field: "access", before: gone.access, after: null }] });
  return true;
}
