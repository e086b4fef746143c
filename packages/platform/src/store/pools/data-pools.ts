import { foldName } from "@platform/contract/file-name";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { requireRoom } from "../base/bounds.ts";
import { isUniqueViolation, selectMilliseconds } from "../base/columns.ts";
import { requireOrganisation } from "../base/hold-organisation.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { NameSearch, Page } from "../base/page.ts";
import { holdPool, selectSeen } from "./pool-rights.ts";
import type { PoolRole } from "./pool-rights.ts";
import { giveUpUploads } from "./uploads.ts";

/** A data pool of an organisation. */
export interface DataPoolRecord {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly fileCount: number;
  /** Of its files together. */
  readonly bytes: number;
  /** The organisation that it belongs to. */
  readonly organisationId: string;
  readonly organisationName: string;
  /** Of the organisation that asks. */
  readonly role: PoolRole;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

interface NewDataPool extends Pick<DataPoolRecord, "name" | "description" | "organisationId"> {
  /** Id of the user. */
  readonly createdBy: string;
}

/** What is to be changed; what is absent stays. */
type DataPoolChange = Partial<Pick<DataPoolRecord, "name" | "description">>;

/** Data pools of organisations; one of another organisation that is not shared is treated as missing. */
export interface DataPoolStore {
  /** @throws Problem QUOTA_EXCEEDED, FORBIDDEN: the organisation was deleted meanwhile */
  readonly create: (pool: NewDataPool) => Promise<DataPoolRecord | "name taken">;
  /** Its own and those that are shared with it; by name, without deleted ones. */
  readonly list: (organisationId: string, search: NameSearch) => Promise<Page<DataPoolRecord>>;
  readonly find: (organisationId: string, id: string) => Promise<DataPoolRecord | null>;
  /** Null when there is none. @throws Problem FORBIDDEN of one of another organisation */
  readonly change: (
    organisationId: string,
    id: string,
    change: DataPoolChange,
  ) => Promise<DataPoolRecord | "name taken" | null>;
  /** With its files, shares, grants and open uploads. False when there was none. @throws Problem FORBIDDEN of one of another organisation */
  readonly delete: (organisationId: string, id: string) => Promise<boolean>;
}

type Row = DataPoolRecord & { readonly key: string };

const COLUMNS = `p.id, p.name, p.name_key as key, p.description, p.organisation_id as "organisationId",
  o.name as "organisationName", seen.role, ${selectMilliseconds("p.created_at")} as "createdAt",
  files.count as "fileCount", files.bytes`;

const JOINED = `join organisation o on o.id = p.organisation_id cross join lateral (
    select count(*)::int as count, coalesce(sum(f.bytes), 0)::float8 as bytes from pool_file f
    where f.pool_id = p.id and f.ended_at is null
  ) files`;

/** The store of data pools in PostgreSQL. */
export function createDataPoolStore(database: Database): DataPoolStore {
  return {
    create: (pool) => unlessTaken(() => database.transaction((run) => insertPool(run, pool))),
    list: (organisationId, search) => listPools(database, organisationId, search),
    find: (organisationId, id) => findPool(database.query, organisationId, id),
    change: (organisationId, id, change) =>
      unlessTaken(() => database.transaction((run) => changePool(run, { organisationId, id, change }))),
    delete: (organisationId, id) => database.transaction((run) => deletePool(run, organisationId, id)),
  };
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T | "name taken"> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, "data_pool_name")) return "name taken";
    throw error;
  }
}

async function insertPool(
  run: RunStatement,
  { organisationId, name, description, createdBy }: NewDataPool,
): Promise<DataPoolRecord> {
  await requireOrganisation(run, organisationId);
  await requireRoom(run, "dataPools", {
    text: "from data_pool where organisation_id = $1 and deleted_at is null",
    values: [organisationId],
  });
  const id = createUuidV7();
  await run({
    text: `insert into data_pool (id, organisation_id, name, name_key, description, created_by) values ($1, $2, $3, $4, $5, $6) returning id`,
    values: [id, organisationId, name, foldName(name), description, createdBy],
    audited: ["data-pool.create"],
  });
  const created = await findPool(run, organisationId, id);
  if (created === null) throw new Error("The insert made no row.");
  return created;
}

async function listPools(
  database: Database,
  organisationId: string,
  { text, cursor, limit }: NameSearch,
): Promise<Page<DataPoolRecord>> {
  const [name, id] = decodeCursor(cursor, [() => true, isUuid]) ?? [null, null];
  const rows = await database.query<Row>({
    text: `select ${COLUMNS} from ${selectSeen("$1")} ${JOINED}
      where ($2::text is null or (p.name_key, p.id) > ($2, $3::uuid))
        and ($5::text is null or position($5 in p.name_key) > 0)
      order by p.name_key, p.id limit $4`,
    values: [organisationId, name, id, limit + 1, text === undefined ? null : foldName(text)],
    idempotent: true,
  });
  return cutPage(rows, limit, (pool) => [pool.key, pool.id]);
}

async function findPool(
  query: RunStatement,
  organisationId: string,
  id: string,
): Promise<DataPoolRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await query<Row>({
    text: `select ${COLUMNS} from ${selectSeen("$2")} ${JOINED} where p.id = $1`,
    values: [id, organisationId],
    idempotent: true,
  });
  return row ?? null;
}

async function changePool(
  run: RunStatement,
  wanted: { readonly organisationId: string; readonly id: string; readonly change: DataPoolChange },
): Promise<DataPoolRecord | null> {
  const { organisationId, id, change } = wanted;
  if ((await holdPool(run, { organisationId, poolId: id }, ["owner"])) === null) return null;
  const { name = null, description = null } = change;
  await run({
    text: `update data_pool set name = coalesce($3, name), name_key = coalesce($4, name_key), description = coalesce($5, description)
      where id = $1 and organisation_id = $2 and deleted_at is null returning id`,
    values: [id, organisationId, name, name === null ? null : foldName(name), description],
    audited: ["data-pool.update"],
  });
  return await findPool(run, organisationId, id);
}

async function deletePool(run: RunStatement, organisationId: string, id: string): Promise<boolean> {
  // Who puts a file, a share or a grant holds the row as well.
  if ((await holdPool(run, { organisationId, poolId: id }, ["owner"])) === null) return false;
  const rows = await run({
    text: `update data_pool set deleted_at = now() where id = $1 and organisation_id = $2 and deleted_at is null returning id`,
    values: [id, organisationId],
    audited: ["data-pool.delete"],
  });
  for (const text of ENDS) await run({ text, values: [id] });
  await giveUpUploads(run, id, null);
  return rows.length > 0;
}

/** What ends with a pool. */
const ENDS = [
  "update pool_file set ended_at = now() where pool_id = $1 and ended_at is null",
  "delete from data_pool_grant where pool_id = $1",
  "delete from data_pool_share where pool_id = $1",
] as const;
