import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { holdOrganisation } from "../base/hold-organisation.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { holdPool, selectSeen } from "./pool-rights.ts";
import type { PoolKey, PoolRole } from "./pool-rights.ts";
import { giveUpUploads } from "./uploads.ts";

/** Another organisation that may use a data pool. */
export interface PoolShareRecord {
  readonly organisationId: string;
  readonly organisationName: string;
  readonly role: Exclude<PoolRole, "owner">;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Name of the user. */
  readonly createdBy: string;
}

/** What a pool is shared as. */
interface NewPoolShare extends Pick<PoolShareRecord, "organisationId" | "role"> {
  /** Id of the user. */
  readonly createdBy: string;
}

/** With whom data pools are shared; null: the organisation that asks sees no such pool. */
export interface PoolShareStore {
  /** By id of the organisation. Who does not own the pool sees the own one only. */
  readonly list: (pool: PoolKey, page: PageRequest) => Promise<Page<PoolShareRecord> | null>;
  /** @throws Problem FORBIDDEN, QUOTA_EXCEEDED; NOT_FOUND, CONFLICT of the other organisation */
  readonly put: (pool: PoolKey, share: NewPoolShare) => Promise<PoolShareRecord | null>;
  /** With what applications of that organisation were granted, and its open uploads. False where there is none. @throws Problem FORBIDDEN */
  readonly delete: (pool: PoolKey, organisationId: string) => Promise<boolean | null>;
}

const COLUMNS = `s.organisation_id as "organisationId", receiver.name as "organisationName", s.role,
  ${selectMilliseconds("s.created_at")} as "createdAt", u.name as "createdBy"`;
const JOINED = `join organisation receiver on receiver.id = s.organisation_id join platform_user u on u.id = s.created_by`;
/** SQL: what applications of the organisation $2 were granted of the pool $1. */
const THEIR_GRANTS =
  "pool_id = $1 and application_id in (select id from application where organisation_id = $2)";

/** The shares in PostgreSQL. */
export function createPoolShareStore(database: Database): PoolShareStore {
  return {
    list: (pool, page) => listShares(database, pool, page),
    put: (pool, share) => database.transaction((run) => putShare(run, pool, share)),
    delete: (pool, organisationId) => database.transaction((run) => deleteShare(run, pool, organisationId)),
  };
}

async function listShares(
  database: Database,
  { poolId, organisationId }: PoolKey,
  page: PageRequest,
): Promise<Page<PoolShareRecord> | null> {
  if (!isUuid(poolId)) return null;
  const [after] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const rows = await database.query<PoolShareRecord | { readonly organisationId: null }>({
    // One row of nulls: a pool that is not shared.
    text: `select shares.* from ${selectSeen("$2")} left join lateral (
        select ${COLUMNS} from data_pool_share s ${JOINED}
        where s.pool_id = p.id and (seen.role = 'owner' or s.organisation_id = $2) and ($3::uuid is null or s.organisation_id > $3)
        order by s.organisation_id limit $4
      ) shares on true where p.id = $1 order by shares."organisationId"`,
    values: [poolId, organisationId, after, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const shares = rows.filter((row): row is PoolShareRecord => row.organisationId !== null);
  return cutPage(shares, page.limit, (share) => [share.organisationId]);
}

async function putShare(
  run: RunStatement,
  pool: PoolKey,
  { organisationId, role, createdBy }: NewPoolShare,
): Promise<PoolShareRecord | null> {
  // Before the pool, as when an organisation is deleted; and whoever shares other pools with it counts one after the other.
  const isKnown = isUuid(organisationId) && (await holdOrganisation(run, organisationId));
  const held = await holdPool(run, pool, ["owner"]);
  if (held === null) return null;
  if (!isKnown) throw new Problem("NOT_FOUND", "There is no such organisation.");
  if (organisationId.toLowerCase() === held.organisationId)
    throw new Problem("CONFLICT", "The data pool belongs to this organisation; share it with another one.");
  const values = [pool.poolId, organisationId];
  const [former] = await run<Pick<PoolShareRecord, "role">>({
    text: "select role from data_pool_share where pool_id = $1 and organisation_id = $2",
    values,
  });
  if (former === undefined) await requireRooms(run, values, { ownerId: held.organisationId, createdBy });
  else if (role === "viewer") {
    await run({ text: `update data_pool_grant set access = 'read' where ${THEIR_GRANTS}`, values });
    await giveUpUploads(run, pool.poolId, organisationId);
  }
  noteAudit({ changes: [{ field: "role", before: former?.role ?? null, after: role }] });
  const [row] = await run<PoolShareRecord>({
    text: `with s as (
        insert into data_pool_share (pool_id, organisation_id, role, created_by) values ($1, $2, $3, $4)
        on conflict (pool_id, organisation_id) do update set role = excluded.role returning *
      ) select ${COLUMNS} from s ${JOINED}`,
    values: [...values, role, createdBy],
    audited: ["pool-share.put"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

async function requireRooms(
  run: RunStatement,
  [poolId, organisationId]: readonly string[],
  { ownerId, createdBy }: { readonly ownerId: string; readonly createdBy: string },
): Promise<void> {
  await requireRoom(run, "poolShares", {
    text: "from data_pool_share where pool_id = $1",
    values: [poolId],
  });
  await requireRoom(run, "sharedPoolsOfOne", {
    // A user may have many organisations.
    text: `from data_pool_share s join data_pool p on p.id = s.pool_id
      where s.organisation_id = $1 and (p.organisation_id = $2 or s.created_by = $3)`,
    values: [organisationId, ownerId, createdBy],
  });
  await requireRoom(run, "sharedPools", {
    text: "from data_pool_share where organisation_id = $1",
    values: [organisationId],
  });
}

async function deleteShare(
  run: RunStatement,
  pool: PoolKey,
  organisationId: string,
): Promise<boolean | null> {
  const isOwn = organisationId.toLowerCase() === pool.organisationId.toLowerCase();
  // Nobody has to keep what others share with them.
  const held = await holdPool(run, pool, isOwn ? ["owner", "maintainer", "viewer"] : ["owner"]);
  if (held === null) return null;
  if (!isUuid(organisationId)) return false;
  const values = [pool.poolId, organisationId];
  const [gone] = await run<Pick<PoolShareRecord, "role">>({
    text: "delete from data_pool_share where pool_id = $1 and organisation_id = $2 returning role",
    values,
    audited: ["pool-share.delete"],
  });
  if (gone === undefined) return false;
  noteAudit({ changes: [{ field: "role", before: gone.role, after: null }] });
  await run({ text: `delete from data_pool_grant where ${THEIR_GRANTS}`, values });
  await giveUpUploads(run, pool.poolId, organisationId);
  return true;
}
