import { randomUUID } from "node:crypto";
import { foldName } from "@platform/contract/file-name";
import { GIGABYTE } from "@platform/engine/base/bytes";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { isUniqueViolation, selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { NameSearch, Page } from "../base/page.ts";
import { requireStorage } from "./pool-quota.ts";
import { WRITERS, holdPool, selectSeen } from "./pool-rights.ts";
import type { PoolKey } from "./pool-rights.ts";
import { endUpload } from "./uploads.ts";
import type { UploadWriter } from "./uploads.ts";

/** A file of a data pool. */
export interface PoolFileRecord {
  /** Of this content. */
  readonly id: string;
  readonly poolId: string;
  /** Of the place in the pool. */
  readonly descriptorId: string;
  readonly name: string;
  readonly mediaType: string;
  /** Names the object. */
  readonly hash: string;
  readonly bytes: number;
  /** Name of the user, or of the application whose result it is. */
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A file to be stored, whose object is kept already. */
interface NewPoolFile extends PoolKey, Pick<PoolFileRecord, "name" | "mediaType" | "hash" | "bytes"> {
  /** Id of the user. */
  readonly createdBy: string;
  /** Whether it may take the place of the file of this name. */
  readonly mayReplace: boolean;
  /** What sends it, where that is an upload that can be resumed. */
  readonly upload?: UploadWriter;
}

/** Files to be put into a pool that is held: no two of one name. */
interface PlacedFiles extends Pick<NewPoolFile, "poolId" | "mayReplace" | "upload"> {
  readonly files: readonly Pick<NewPoolFile, "name" | "mediaType" | "hash" | "bytes">[];
  /** Who made them: either a user or an application. */
  readonly creator: { readonly userId: string | null; readonly applicationId: string | null };
}

/** Where a file was put. */
export interface FilePlace {
  readonly id: string;
  readonly descriptorId: string;
}

/** What the organisation of the pool may store. */
interface Allowance {
  readonly organisationId: string;
  /** Whether it is told how much it has stored. */
  readonly isOwn: boolean;
  readonly quotaBytes: number;
}

/**
 * Files of data pools; null: the organisation sees no such pool, or the pool has no such file.
 *
 * @throws Problem FORBIDDEN for a change where the organisation may only read
 */
export interface PoolFileStore {
  /** By name. */
  readonly list: (pool: PoolKey, page: NameSearch) => Promise<Page<PoolFileRecord> | null>;
  readonly find: (pool: PoolKey, fileId: string) => Promise<PoolFileRecord | null>;
  /** In the place of the file of this name, which ends. `taken over`: by another request of the same upload. @throws Problem QUOTA_EXCEEDED */
  readonly put: (file: NewPoolFile) => Promise<PoolFileRecord | "name taken" | "taken over" | null>;
  readonly rename: (
    pool: PoolKey,
    fileId: string,
    name: string,
  ) => Promise<PoolFileRecord | "name taken" | null>;
  /** False where there is none. */
  readonly delete: (pool: PoolKey, fileId: string) => Promise<boolean>;
}

/** What the files of one organisation may take unless the settings say otherwise. */
export const DEFAULT_POOL_BYTES = 100 * GIGABYTE;

type Row = PoolFileRecord & { readonly key: string };

const COLUMNS = `f.id, f.pool_id as "poolId", f.descriptor_id as "descriptorId", f.name, f.name_key as key, f.media_type as "mediaType",
  f.hash, f.bytes::float8 as bytes, ${selectMilliseconds("f.created_at")} as "createdAt",
  coalesce((select u.name from platform_user u where u.id = f.created_by),
    (select a.name from application a where a.id = f.application_id)) as "createdBy"`;

/** SQL: files `f` of the pool $1, which the organisation $2 sees. */
const OF_POOL = `pool_file f join ${selectSeen("$2")} on p.id = f.pool_id where f.pool_id = $1 and f.ended_at is null`;

/** The files in PostgreSQL. `quotaBytes`: of one organisation. */
export function createPoolFileStore(database: Database, quotaBytes: number): PoolFileStore {
  return {
    list: (pool, page) => listFiles(database, pool, page),
    find: (pool, fileId) => findFile(database.query, pool, fileId),
    put: (file) =>
      unlessTaken(() => database.transaction((run) => putFile(run, file, quotaBytes))).catch(
        explainTakenOver,
      ),
    rename: (pool, fileId, name) =>
      unlessTaken(() => database.transaction((run) => renameFile(run, pool, { fileId, name }))),
    delete: (pool, fileId) => database.transaction((run) => deleteFile(run, pool, fileId)),
  };
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T | "name taken"> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, "pool_file_name")) return "name taken";
    throw error;
  }
}

/** Nothing of the transaction stays. */
class TakenOver extends Error {}

function explainTakenOver(error: unknown): "taken over" {
  if (error instanceof TakenOver) return "taken over";
  throw error;
}

async function listFiles(
  database: Database,
  { poolId, organisationId }: PoolKey,
  { text, cursor, limit }: NameSearch,
): Promise<Page<PoolFileRecord> | null> {
  if (!isUuid(poolId)) return null;
  const [after] = decodeCursor(cursor, [() => true]) ?? [null];
  const rows = await database.query<Row | { readonly id: null }>({
    // One row of nulls: a pool without files. A pool has at most 10,000 of them, which the index has in this order.
    text: `select ${COLUMNS} from ${selectSeen("$2")} left join lateral (
        select * from pool_file f where f.pool_id = p.id and f.ended_at is null and ($3::text is null or f.name_key > $3)
          and ($5::text is null or position($5 in f.name_key) > 0)
        order by f.name_key limit $4
      ) f on true
      where p.id = $1 order by f.name_key`,
    values: [poolId, organisationId, after, limit + 1, text === undefined ? null : foldName(text)],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const files = rows.filter((row): row is Row => row.id !== null);
  return cutPage(files, limit, ({ key }) => [key]);
}

async function findFile(
  query: RunStatement,
  { poolId, organisationId }: PoolKey,
  fileId: string,
): Promise<PoolFileRecord | null> {
  if (!isUuid(poolId) || !isUuid(fileId)) return null;
  const [row] = await query<Row>({
    text: `select ${COLUMNS} from ${OF_POOL} and f.id = $3`,
    values: [poolId, organisationId, fileId],
    idempotent: true,
  });
  return row ?? null;
}

async function putFile(
  run: RunStatement,
  file: NewPoolFile,
  quotaBytes: number,
): Promise<PoolFileRecord | "name taken" | null> {
  // Files of one pool are put one after the other, and none into a pool that is being deleted.
  const pool = await holdPool(run, file, WRITERS);
  if (pool === null) return null;
  const { poolId, name, mediaType, hash, bytes, mayReplace, createdBy: userId, upload } = file;
  const { organisationId, role } = pool;
  const placed = await placeFiles(
    run,
    {
      poolId,
      files: [{ name, mediaType, hash, bytes }],
      creator: { userId, applicationId: null },
      mayReplace,
      ...(upload === undefined ? {} : { upload }),
    },
    { organisationId, quotaBytes, isOwn: role === "owner" },
  );
  return placed === null ? "name taken" : await findFile(run, file, placed[0]?.id ?? "");
}

/**
 * Puts files into a pool whose row is held, by as many statements for a hundred as for one: others wait for the pool, and for the quota
 * of its organisation. Returns where they are, in their order; null where a name is taken. @throws Problem QUOTA_EXCEEDED
 */
export async function placeFiles(
  run: RunStatement,
  { poolId, files, creator, mayReplace, upload }: PlacedFiles,
  { organisationId, isOwn, quotaBytes }: Allowance,
): Promise<readonly FilePlace[] | null> {
  const keyed = files.map((file) => ({ ...file, key: foldName(file.name), id: randomUUID() }));
  const keys = keyed.map(({ key }) => key);
  const former = await findFormer(run, poolId, keys);
  if (former.size > 0 && !mayReplace) return null;
  if (former.size > 0)
    await run({
      text: "update pool_file set ended_at = now() where pool_id = $1 and name_key = any ($2::text[]) and ended_at is null",
      values: [poolId, keys],
    });
  if (former.size < files.length)
    await requireRoom(run, "poolFiles", {
      text: "from pool_file where pool_id = $1 and ended_at is null",
      values: [poolId],
      more: files.length,
    });
  const [first] = keyed;
  if (upload !== undefined && first !== undefined && !(await endUpload(run, upload, first.id)))
    throw new TakenOver();
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  await requireStorage(run, organisationId, { bytes, quotaBytes, isOwn });
  if (first !== undefined) noteAudit({ target: [poolId, first.name, first.id] });
  const placed = keyed.map((file) => ({ ...file, descriptorId: former.get(file.key) ?? randomUUID() }));
  await run({
    text: `insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by, application_id)
      select id, $1, $2, descriptor_id, name, key, media_type, hash, bytes, $3, $4
      from unnest($5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[])
        as f (id, descriptor_id, name, key, media_type, hash, bytes) returning id`,
    values: [poolId, organisationId, creator.userId, creator.applicationId, ...toColumns(placed)],
    audited: ["pool-file.create"],
  });
  return placed.map(({ id, descriptorId }) => ({ id, descriptorId }));
}

type Placed = FilePlace & PlacedFiles["files"][number] & { readonly key: string };

function toColumns(placed: readonly Placed[]): readonly unknown[] {
  const columns = ["id", "descriptorId", "name", "key", "mediaType", "hash", "bytes"] as const;
  return columns.map((column) => placed.map((file) => file[column]));
}

/** The places of files that have these names now. */
async function findFormer(
  run: RunStatement,
  poolId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await run<{ readonly key: string; readonly descriptorId: string }>({
    text: `select name_key as key, descriptor_id as "descriptorId" from pool_file
      where pool_id = $1 and name_key = any ($2::text[]) and ended_at is null`,
    values: [poolId, keys],
    idempotent: true,
  });
  return new Map(rows.map(({ key, descriptorId }) => [key, descriptorId]));
}

async function deleteFile(run: RunStatement, pool: PoolKey, fileId: string): Promise<boolean> {
  if (!isUuid(fileId) || (await holdPool(run, pool, WRITERS)) === null) return false;
  const rows = await run({
    text: "update pool_file set ended_at = now() where pool_id = $1 and id = $2 and ended_at is null returning id",
    values: [pool.poolId, fileId],
    audited: ["pool-file.delete"],
  });
  return rows.length > 0;
}

async function renameFile(
  run: RunStatement,
  pool: PoolKey,
  { fileId, name }: { readonly fileId: string; readonly name: string },
): Promise<PoolFileRecord | null> {
  if (!isUuid(fileId) || (await holdPool(run, pool, WRITERS)) === null) return null;
  await run({
    text: "update pool_file set name = $3, name_key = $4 where pool_id = $1 and id = $2 and ended_at is null returning id",
    values: [pool.poolId, fileId, name, foldName(name)],
    audited: ["pool-file.rename"],
  });
  return await findFile(run, pool, fileId);
}
