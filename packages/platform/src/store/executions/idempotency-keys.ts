import { Problem } from "@platform/contract/problems";
import { KEPT_HOURS, toFirstAnswer } from "@platform/engine/store/idempotency";
import type { IdempotencyKey } from "@platform/engine/store/idempotency";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { findExecution } from "./read.ts";

/*
 * A start with an idempotency key inserts the key in the statement that creates the execution: both are there or neither. Of two statements that
 * insert the same key at the same time, the second waits for the first, and then finds the key taken; it creates nothing, and answers what the
 * first has created. What is left out this way holds no quota.
 *
 * Keys are inserted in their order, and after the rows of the owners and their quotas are locked, so that no two statements wait for each other.
 * A key that is older than KEPT_HOURS counts for nothing, whether it was removed or not: the next start replaces it.
 */

const IS_OLD = (row: string) => `${row}.created_at <= now() - interval '${KEPT_HOURS} hours'`;

/** CTE: those of `input` whose key has started nothing, as far as is committed; of those with the same key the first. */
export const UNUSED = `unused as (
    select i.* from (
      select *, row_number() over (partition by owner_id, coalesce(key_hash, id) order by position) = 1 as is_first from input
    ) i where i.is_first and (i.key_hash is null or not exists (
      select 1 from idempotency_key k where k.owner_id = i.owner_id and k.key_hash = i.key_hash and not ${IS_OLD("k")}))
  )`;

const insertKeys = (values: string, from: string) => `won as (
    insert into idempotency_key as k (owner_id, key_hash, request_hash, execution_id)
    select ${values} from ${from}
    on conflict (owner_id, key_hash) do update
      set request_hash = excluded.request_hash, execution_id = excluded.execution_id, created_at = excluded.created_at
      where ${IS_OLD("k")}
    returning execution_id
  )`;

/** CTEs: those of `allowed` without a key, and those whose key this statement has inserted. */
export const ADMITTED = `${insertKeys(
  "owner_id, key_hash, request_hash, id",
  "allowed where key_hash is not null order by owner_id, key_hash",
)}, admitted as (
    select a.* from allowed a where a.key_hash is null or a.id = any (array(select execution_id from won))
  )`;

/** CTE: the key of one execution. `values`: owner, hashes and id; `from`: a row if it may be started. */
export const WON_ONE = insertKeys;

interface KeyRow {
  readonly executionId: string;
  readonly requestHash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** What the owner's key has started: an execution or a batch. */
export async function findKey(
  database: Database,
  ownerId: string,
  { keyHash }: IdempotencyKey,
): Promise<KeyRow | null> {
  const [row] = await database.query<KeyRow>({
    name: "idempotency-key-find",
    text: `select k.execution_id as "executionId", k.request_hash as "requestHash", ${selectMilliseconds("k.created_at")} as "createdAt"
      from idempotency_key k where k.owner_id = $1 and k.key_hash = $2 and not ${IS_OLD("k")}`,
    values: [ownerId, keyHash],
    idempotent: true,
  });
  return row ?? null;
}

/**
 * What the owner's key has started; null: nothing. An execution that was removed since is described as its start was answered.
 * @throws Problem IDEMPOTENCY_CONFLICT when it was used with another request
 */
export async function findStarted(
  database: Database,
  ownerId: string,
  key: IdempotencyKey,
): Promise<ExecutionRecord | null> {
  const row = await findKey(database, ownerId, key);
  if (row === null) return null;
  if (row.requestHash !== key.requestHash) throw new Problem("IDEMPOTENCY_CONFLICT");
  const { executionId: id, createdAt } = row;
  const record = await findExecution(database, id, ownerId);
  return { ...(record ?? toFirstAnswer({ id, ownerId, createdAt })), isRepeated: true };
}

/** Every start may have a key: as many as are started in an hour are removed, so many with a statement. */
const KEYS_AT_ONCE = 20_000;
const MOST_KEY_STATEMENTS = 500;

/** Removes keys that count for nothing any more; returns how many. */
export async function removeOldKeys(database: Database): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MOST_KEY_STATEMENTS; count++) {
    // Who waits for nobody holds up no start that replaces such a key.
    const rows = await database.query({
      text: `delete from idempotency_key where (owner_id, key_hash) in (
          select k.owner_id, k.key_hash from idempotency_key k where ${IS_OLD("k")}
          order by k.created_at limit ${KEYS_AT_ONCE} for update skip locked
        ) returning owner_id`,
      idempotent: true,
    });
    removed += rows.length;
    if (rows.length < KEYS_AT_ONCE) break;
  }
  return removed;
}
