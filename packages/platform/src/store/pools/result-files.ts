import type { FileReference } from "@platform/contract/execution";
import { listRoles } from "@platform/contract/permissions";
import { isUuid } from "@platform/engine/base/uuid";
import { refuseTarget } from "@platform/engine/store/refuse-target";
import type { PinnedTarget } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import type { Database, RunStatement } from "../../postgres/database.ts";
import type { NewAuditEntry } from "../audit/trail.ts";
import { placeFiles } from "./pool-files.ts";

/** A file that an execution has left, whose object is kept already. */
interface ResultFile {
  readonly name: string;
  readonly mediaType: string;
  /** Names the object. */
  readonly hash: string;
  readonly bytes: number;
}

/** What an execution stores in one data pool: no two files of one name. */
export interface ResultFiles extends Pick<PinnedTarget, "dataPoolId" | "userId"> {
  readonly executionId: string;
  readonly owner: Owner;
  readonly files: readonly ResultFile[];
}

/** A file that was stored. */
interface NamedFile {
  readonly reference: FileReference;
  readonly name: string;
}

/** Files that were stored, and their entry in the audit log: to be appended last in the transaction, since it locks the log. */
export interface CreatedFiles {
  readonly files: readonly NamedFile[];
  /** Null: there are no files. */
  readonly entry: NewAuditEntry | null;
}

/** A data pool that an execution may store its result in. */
interface WritablePool {
  /** The organisation that it belongs to. */
  readonly organisationId: string;
  readonly isOwn: boolean;
  /** Null: a job. */
  readonly applicationId: string | null;
}

/** The roles of users who may change what an organisation has. */
const EDITORS = listRoles({ allows: "edit", audit: null });

/**
 * SQL: the pool $1 as `p`, where a job of the organisation $2 that the user $3 with a role of $5 has started, or an execution of the
 * subscription $4, may store files.
 */
const WRITABLE = `data_pool p where p.id = $1 and p.deleted_at is null and ((
      (p.organisation_id = $2 or exists (
        select 1 from data_pool_share s where s.pool_id = p.id and s.organisation_id = $2 and s.role = 'maintainer'))
      and exists (select 1 from member m join platform_user u on u.id = m.user_id
        where m.organisation_id = $2 and m.user_id = $3 and m.role = any ($5::text[]) and u.disabled_at is null)
    ) or exists (select 1 from data_pool_grant g join subscription b on b.application_id = g.application_id
      where g.pool_id = p.id and g.access = 'write' and b.id = $4))`;

/** Where results may be stored. */
export interface ResultFileStore {
  /** Whether an execution of this owner may store its result there now. */
  readonly mayStore: (owner: Owner, target: PinnedTarget) => Promise<boolean>;
}

/** The same in PostgreSQL. */
export function createResultFileStore(database: Database): ResultFileStore {
  return {
    mayStore: async (owner, target) => (await findWritablePool(database.query, owner, target)) !== null,
  };
}

/** The pool, where the execution may store its result in it; null: it may not, or there is none. */
async function findWritablePool(
  query: RunStatement,
  owner: Pick<Owner, "kind" | "id" | "organisationId">,
  { dataPoolId, userId }: Pick<PinnedTarget, "dataPoolId" | "userId">,
): Promise<WritablePool | null> {
  if (!isUuid(dataPoolId)) return null;
  const [row] = await query<WritablePool>({
    name: "result-file-find-pool",
    text: `select p.organisation_id as "organisationId", p.organisation_id = $6 as "isOwn",
      (select b.application_id from subscription b where b.id = $4) as "applicationId" from ${WRITABLE}`,
    values: [...toValues(owner, { dataPoolId, userId }), owner.organisationId],
    idempotent: true,
  });
  return row ?? null;
}

function toValues(
  { kind, id }: Pick<Owner, "kind" | "id">,
  { dataPoolId, userId }: Pick<PinnedTarget, "dataPoolId" | "userId">,
): readonly unknown[] {
  return kind === "organisation"
    ? [dataPoolId, id, userId, null, EDITORS]
    : [dataPoolId, null, null, id, EDITORS];
}

/** Stores them as whoever stores a file by hand. @throws Problem DATA_REFERENCE_INVALID, QUOTA_EXCEEDED */
export async function createResultFiles(
  run: RunStatement,
  made: ResultFiles,
  quotaBytes: number,
): Promise<CreatedFiles> {
  const { owner, dataPoolId, userId, files } = made;
  if (files.length === 0) return { files: [], entry: null };
  await run({
    text: `select p.id from ${WRITABLE} for no key update of p`,
    values: toValues(owner, { dataPoolId, userId }),
  });
  // A statement of its own: it sees what was committed while the first one waited.
  const pool = await findWritablePool(run, owner, { dataPoolId, userId });
  if (pool === null) throw refuseTarget();
  const { organisationId, isOwn, applicationId } = pool;
  const placed = await placeFiles(
    run,
    { poolId: dataPoolId, files, creator: { userId, applicationId }, mayReplace: true },
    { organisationId, isOwn, quotaBytes },
  );
  const named = (placed ?? []).map(({ id: fileId, descriptorId: dataSourceDescriptorId }, index) => ({
    reference: { dataPoolId, dataSourceDescriptorId, fileId },
    name: files[index]?.name ?? "",
  }));
  return { files: named, entry: describeFiles(made, pool, named) };
}

/**
 * Holds data pools in the order of their ids, before something is stored in either: who stores files in both the other way round, or in one
 * of them, waits instead of being ended.
 */
export async function holdPools(run: RunStatement, dataPoolIds: readonly string[]): Promise<void> {
  await run({
    text: "select id from data_pool where id = any ($1::uuid[]) order by id for no key update",
    values: [dataPoolIds.filter(isUuid)],
  });
}

/** Outside of a request, which would have its own entry. One for all files of an execution in a pool: it is one change. */
function describeFiles(
  { executionId, owner, dataPoolId, userId }: ResultFiles,
  { organisationId, isOwn, applicationId }: WritablePool,
  files: readonly NamedFile[],
): NewAuditEntry {
  const [first, ...others] = files;
  const isOne = first !== undefined && others.length === 0;
  const named = files.map(({ name, reference }) => ({
    field: "file",
    before: null,
    after: `${name}/${reference.fileId}`,
  }));
  return {
    organisationId: owner.organisationId,
    actorKind: applicationId === null ? "user" : "application",
    actorId: applicationId ?? userId,
    credential: null,
    action: "pool-file.create",
    target: isOne ? [dataPoolId, first.name, first.reference.fileId] : [dataPoolId],
    outcome: "done",
    code: null,
    ip: "",
    changes: [{ field: "execution", before: null, after: executionId }, ...(isOne ? [] : named)],
    ...(isOwn ? {} : { alsoIn: organisationId }),
  };
}
