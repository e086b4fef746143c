import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import { BATCH_HOLD_SECONDS } from "@platform/engine/store/batches";
import type {
  BatchRecord,
  BatchRefusal,
  BatchStore,
  NewBatch,
  OpenedBatch,
} from "@platform/engine/store/batches";
import type { Database } from "../../postgres/database.ts";
import { auditChanges } from "../audit/trail.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cancelMany } from "./cancel-many.ts";
import type { NoteCancelled } from "./cancel-many.ts";
import { WON_ONE, findKey } from "./idempotency-keys.ts";
import { mayBeMoved } from "./kept.ts";

interface BatchRow {
  readonly id: string;
  readonly ownerId: string;
  readonly itemIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly isCancelled: boolean;
  /** JSON text. */
  readonly refusals: string | null;
}

const selectBatch = (
  alias: string,
): string => `${alias}.id, ${alias}.owner_id as "ownerId", ${alias}.item_ids as "itemIds",
    ${selectMilliseconds(`${alias}.created_at`)} as "createdAt", ${alias}.is_cancelled as "isCancelled", ${alias}.refusals`;

function toBatch({ refusals, ...row }: BatchRow): BatchRecord {
  return { ...row, refusals: refusals === null ? null : (JSON.parse(refusals) as readonly BatchRefusal[]) };
}

/** The batches in PostgreSQL. */
export function createBatchStore(database: Database, noteCancelled: NoteCancelled): BatchStore {
  return {
    openBatch: (batch, mayCreate) => openBatch(database, batch, mayCreate),
    takeOverBatch: (id, ownerId, holder) => takeOver(database, { id, ownerId, holder }),
    renewBatch: (id, holder) => renewBatch(database, id, holder),
    settleBatch: (id, holder, refusals) => settleBatch(database, id, { holder, refusals }),
    findBatch: async (id, ownerId) => {
      if (!isUuid(id) || !isUuid(ownerId)) return null;
      return await findBatch(database, id, ownerId);
    },
    findKeyedBatch: async (ownerId, key) => {
      const known = await findKey(database, ownerId, key);
      if (known === null) return null;
      if (known.requestHash !== key.requestHash) throw new Problem("IDEMPOTENCY_CONFLICT");
      return await findBatch(database, known.executionId, ownerId);
    },
    readStates: (ids, ownerId) => readStates(database, ids, ownerId),
    cancelBatch: (id, ownerId) => cancelBatch(database, id, ownerId),
    cancelMany: async (ids, ownerId) => noteCancelled((await cancelMany(database.query, ids, ownerId)).ended),
  };
}

const HELD_UNTIL = `now() + interval '${BATCH_HOLD_SECONDS} seconds'`;

const insertBatch = (
  from: string,
): string => `insert into execution_batch as b (id, owner_id, item_ids, holder, held_until)
    select $1::uuid, $2::uuid, $3::uuid[], $4::uuid, ${HELD_UNTIL} from ${from}
    on conflict do nothing returning ${selectBatch("b")}`;
const CREATE = insertBatch("(select 1) one");
const CREATE_KEYED = `with ${WON_ONE("$2::uuid, $5::uuid, $6::uuid, $1::uuid", "(select 1) one")} ${insertBatch("won")}`;

async function openBatch(
  database: Database,
  given: NewBatch,
  mayCreate: boolean,
): Promise<OpenedBatch | null> {
  const { id, ownerId, key } = given;
  const created = mayCreate ? await insert(database, given) : null;
  if (created !== null) return { batch: created, holder: "own", isRepeated: false };
  const known = key === undefined ? null : await findKey(database, ownerId, key);
  if (known !== null && known.requestHash !== key?.requestHash) throw new Problem("IDEMPOTENCY_CONFLICT");
  if (known === null && !mayCreate) return null;
  const found = await takeOver(database, { id: known?.executionId ?? id, ownerId, holder: given.holder });
  if (found === null) throw new Problem("RESULT_EXPIRED");
  return { ...found, isRepeated: found.batch.id !== id };
}

/** Null: the id is there, of an earlier try whose answer was lost, or the key is taken. */
async function insert(
  database: Database,
  { id, ownerId, itemIds, holder, key }: NewBatch,
): Promise<BatchRecord | null> {
  const values = [id, ownerId, itemIds, holder];
  const [row] = await database.query<BatchRow>({
    ...(key === undefined
      ? { name: "batch-create", text: CREATE, values }
      : {
          name: "batch-create-keyed",
          text: CREATE_KEYED,
          values: [...values, key.keyHash, key.requestHash],
        }),
    idempotent: true,
  });
  return row === undefined ? null : toBatch(row);
}

async function takeOver(
  database: Database,
  { id, ownerId, holder }: Pick<NewBatch, "id" | "ownerId" | "holder">,
): Promise<Pick<OpenedBatch, "batch" | "holder"> | null> {
  const [row] = await database.query<BatchRow & { readonly isOwn: boolean }>({
    name: "batch-take-over",
    text: `with taken as (
        update execution_batch b set holder = $3::uuid, held_until = ${HELD_UNTIL}
        where b.id = $1::uuid and b.owner_id = $2::uuid and b.refusals is null
          and (b.held_until <= now() or b.holder = $3::uuid)
        returning b.*
      )
      select ${selectBatch("t")}, true as "isOwn" from taken t
      union all
      select ${selectBatch("b")}, false from execution_batch b
      where b.id = $1::uuid and b.owner_id = $2::uuid and not exists (select 1 from taken)`,
    values: [id, ownerId, holder],
    idempotent: true,
  });
  if (row === undefined) return null;
  const { isOwn, ...batch } = row;
  const record = toBatch(batch);
  if (isOwn) return { batch: record, holder: "own" };
  return { batch: record, holder: record.refusals === null ? "other" : "nobody" };
}

async function renewBatch(
  database: Database,
  id: string,
  holder: string,
): ReturnType<BatchStore["renewBatch"]> {
  const [row] = await database.query<{ readonly isCancelled: boolean }>({
    name: "batch-renew",
    text: `update execution_batch set held_until = ${HELD_UNTIL}
      where id = $1 and holder = $2 and refusals is null returning is_cancelled as "isCancelled"`,
    values: [id, holder],
    idempotent: true,
  });
  if (row === undefined) return "lost";
  return row.isCancelled ? "cancelled" : "held";
}

async function settleBatch(
  database: Database,
  id: string,
  { holder, refusals }: { readonly holder: string; readonly refusals: readonly BatchRefusal[] },
): Promise<BatchRecord | null> {
  const [row] = await database.query<BatchRow>({
    name: "batch-settle",
    // Repeated after its answer was lost it writes the same.
    text: `update execution_batch b set refusals = $3 where b.id = $1 and b.holder = $2 returning ${selectBatch("b")}`,
    values: [id, holder, JSON.stringify(refusals)],
    idempotent: true,
  });
  return row === undefined ? null : toBatch(row);
}

async function findBatch(database: Database, id: string, ownerId: string): Promise<BatchRecord | null> {
  const [row] = await database.query<BatchRow>({
    name: "batch-find",
    text: `select ${selectBatch("b")} from execution_batch b where b.id = $1 and b.owner_id = $2`,
    values: [id, ownerId],
    idempotent: true,
  });
  return row === undefined ? null : toBatch(row);
}

const describeStates = (table: string): string => `select e.id, e.status from ${table} e
    where e.id = any ($2::uuid[]) and e.id >= $3::uuid and e.id <= $4::uuid and (e.owner_id = $1::uuid) is true`;
const STATES = { name: "batch-states", text: describeStates("execution") } as const;
/** While a day is being closed, an execution is in both tables. */
const OLD_STATES = {
  name: "batch-states-old",
  text: `${describeStates("execution")} union all ${describeStates("kept_execution")}`,
} as const;

/** `ExecutionStore.readStates` for PostgreSQL. */
async function readStates(
  database: Database,
  ids: readonly string[],
  ownerId: string,
): ReturnType<BatchStore["readStates"]> {
  const sorted = [...ids].sort();
  const [first] = sorted;
  if (first === undefined) return new Map();
  const rows = await database.query<{ readonly id: string; readonly status: ExecutionStatus }>({
    ...(mayBeMoved(first) ? OLD_STATES : STATES),
    values: [ownerId, sorted, first, sorted.at(-1)],
    idempotent: true,
  });
  return new Map(rows.map(({ id, status }) => [id, status]));
}

async function cancelBatch(database: Database, id: string, ownerId: string): Promise<BatchRecord | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  const [row] = await auditChanges(database).query<BatchRow>({
    name: "batch-cancel",
    text: `update execution_batch b set is_cancelled = true
      where b.id = $1 and b.owner_id = $2 and not b.is_cancelled returning ${selectBatch("b")}`,
    values: [id, ownerId],
    idempotent: true,
    audited: ["job-batch.cancel"],
  });
  return row === undefined ? await findBatch(database, id, ownerId) : toBatch(row);
}

const BATCHES_AT_ONCE = 20;
const MOST_STATEMENTS = 500;

/**
 * Removes batches of which no execution is left; returns how many. Looks at one that is older than executions are kept, once a day: its
 * service may keep some for longer.
 */
export async function removeOldBatches(
  database: Pick<Database, "query">,
  retentionDays: number,
): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MOST_STATEMENTS; count++) {
    const rows = await database.query<{ readonly isNeeded: boolean }>({
      text: REMOVE_OLD,
      values: [retentionDays],
      idempotent: true,
    });
    removed += rows.filter(({ isNeeded }) => !isNeeded).length;
    if (rows.length < BATCHES_AT_ONCE) break;
  }
  return removed;
}

const KEPT_FOR = "make_interval(days => $1::int)";
const REMOVE_OLD = `with due as materialized (
    select b.id, b.item_ids from execution_batch b where b.due_at < now() - ${KEPT_FOR}
    order by b.due_at limit ${BATCHES_AT_ONCE} for update skip locked
  ), judged as materialized (
    select d.id, exists (select 1 from execution e where e.id = any (d.item_ids))
      or exists (select 1 from kept_execution e where e.id = any (d.item_ids)) as is_needed
    from due d
  ), gone as (
    delete from execution_batch where id in (select id from judged where not is_needed)
  ), kept as (
    update execution_batch set due_at = now() - ${KEPT_FOR} + interval '1 day' where id in (select id from judged where is_needed)
  )
  select is_needed as "isNeeded" from judged`;
