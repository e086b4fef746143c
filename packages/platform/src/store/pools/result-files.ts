import type { FileReference } from "@platform/contract/execution";
import { listRoles } from "@platform/contract/permissions";
import { isUuid } from "@platform/engine/base/uuid";
import { refuseTarget } from "@platform/engine/store/execution-store";
import type { PinnedTarget } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import type { Database, RunStatement } from "../../postgres/database.ts";
import type { NewAuditEntry } from "../audit/trail.ts";
import { placeFile } from "./pool-files.ts";

/** The result of an execution, or a file that it has left, whose object is kept already, as a file. */
export interface ResultFile {
  readonly executionId: string;
  readonly owner: Owner;
  readonly target: PinnedTarget;
  readonly mediaType: string;
  /** Names the object. */
  readonly hash: string;
  readonly bytes: number;
}

/** A file that was stored. */
interface NamedFile {
  readonly reference: FileReference;
  readonly name: string;
}

/** A file, and its entry in the audit log: to be appended last in the transaction, since it locks the log. */
export interface CreatedFile {
  readonly file: NamedFile;
  readonly entry: NewAuditEntry;
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

/** Stores it as whoever stores a file by hand. @throws Problem DATA_REFERENCE_INVALID, QUOTA_EXCEEDED */
export async function createResultFile(
  run: RunStatement,
  { executionId, owner, target, mediaType, hash, bytes }: ResultFile,
  quotaBytes: number,
): Promise<CreatedFile> {
  await run({ text: `select p.id from ${WRITABLE} for no key update of p`, values: toValues(owner, target) });
  // A statement of its own: it sees what was committed while the first one waited.
  const pool = await findWritablePool(run, owner, target);
  if (pool === null) throw refuseTarget();
  const { organisationId, isOwn, applicationId } = pool;
  const name = target.name ?? `${executionId}.json`;
  const file = { poolId: target.dataPoolId, name, mediaType, hash, bytes };
  const creator = { userId: target.userId, applicationId };
  const allowance = { organisationId, isOwn, quotaBytes };
  const id = await placeFile(run, { ...file, creator, mayReplace: true }, allowance);
  const [row] = await run<Pick<NamedFile, "reference">>({
    text: `select json_build_object('dataPoolId', pool_id, 'dataSourceDescriptorId', descriptor_id, 'fileId', id) as reference
      from pool_file where id = $1`,
    values: [id],
  });
  if (row === undefined) throw new Error("The insert made no row.");
  return {
    file: { ...row, name },
    entry: describeFile({ executionId, owner, target }, pool, [name, id ?? ""]),
  };
}

/** Outside of a request, which would have its own entry. */
function describeFile(
  { executionId, owner, target }: Pick<ResultFile, "executionId" | "owner" | "target">,
  { organisationId, isOwn, applicationId }: WritablePool,
  file: readonly string[],
): NewAuditEntry {
  return {
    organisationId: owner.organisationId,
    actorKind: applicationId === null ? "user" : "application",
    actorId: applicationId ?? target.userId,
    credential: null,
    action: "pool-file.create",
    target: [target.dataPoolId, ...file],
    outcome: "done",
    code: null,
    ip: "",
    changes: [{ field: "execution", before: null, after: executionId }],
    ...(isOwn ? {} : { alsoIn: organisationId }),
  };
}
