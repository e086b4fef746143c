import { EXECUTION_STATUSES } from "@platform/contract/execution";
import type { StoredFile, StoredOutput } from "@platform/engine/content/result-store";
import type { ExecutionRecord, ListFilter, Page, StoredResult } from "@platform/engine/store/execution-store";
import { MINUTE } from "@platform/engine/base/time";
import { getLowestUuid, isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import { RESULT_NAME } from "./finish.ts";
import { mayBeMoved, selectLogDays } from "./kept.ts";
import { lookUp } from "./lookup.ts";
import { isLimited } from "./limited.ts";
import { isQueued } from "./queue-rows.ts";
import { selectKeptProgress, selectProgress } from "./progress.ts";
import { NOT_LIVE, NO_START_BY, selectLive, selectRecord, toLiveRecord } from "./record.ts";
import type { LiveRow, RecordParts, RecordRow } from "./record.ts";

/** One execution; null: not the owner's. */
export async function findExecution(
  database: Database,
  id: string,
  ownerId: string,
): Promise<ExecutionRecord | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  for (const statement of mayBeMoved(id) ? FIND_OLD : FIND) {
    const [row] = await database.query<RecordRow & LiveRow>({
      ...statement,
      values: [id, ownerId],
      idempotent: true,
    });
    if (row !== undefined) return toLiveRecord(row);
  }
  return null;
}

const IS_ROW = lookUp("e", "$1::uuid", "e.owner_id = $2");
const FIND = [
  {
    name: "execution-find",
    text: `select ${selectRecord("e")}, ${selectLive("e")}, ${selectProgress("e")} from execution e where ${IS_ROW}`,
  },
] as const;
/** One that is moved meanwhile is found by the second: it is there before it is gone. */
const FIND_OLD = [
  {
    name: "execution-find-old",
    text: `select ${selectRecord("e", { logDays: selectLogDays("e") })}, ${selectLive("e")}, ${selectProgress("e")} from execution e where ${IS_ROW}`,
  },
  {
    name: "execution-find-kept",
    text: `select ${selectRecord("e", { startBy: NO_START_BY })}, ${NOT_LIVE}, ${selectKeptProgress("e")} from kept_execution e where ${IS_ROW}`,
  },
] as const;

type Count = { readonly ownerId: string; readonly count: number };

/** `ExecutionStore.countPending` for PostgreSQL. Reads only the indexes of the queue and of what is held, about 0.1 s for 100,000. */
export async function countPending(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<Count>({
    name: "execution-count-pending",
    text: `select owner_id as "ownerId", count(*)::int as count from (
        select e.owner_id from execution e where ${isQueued("e")}
        union all select e.owner_id from execution e where ${isLimited("e")}
      ) pending group by owner_id`,
    idempotent: true,
  });
  return new Map(rows.map(({ ownerId, count }) => [ownerId, count]));
}

/** `ExecutionStore.countDelayed` for PostgreSQL. Reads the index of what is held. */
export async function countDelayed(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<Count>({
    name: "execution-count-delayed",
    text: `select e.owner_id as "ownerId", count(*)::int as count from execution e
      where e.status = 'PENDING' and e.held = 'START_AT' group by e.owner_id`,
    idempotent: true,
  });
  return new Map(rows.map(({ ownerId, count }) => [ownerId, count]));
}

/** Result and metadata of a SUCCEEDED execution; null: not the owner's, not succeeded, or expired. */
export async function readResult(
  database: Database,
  id: string,
  ownerId: string,
): Promise<StoredResult | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  for (const statement of mayBeMoved(id) ? [READ_RESULT, READ_KEPT_RESULT] : [READ_RESULT]) {
    const [row] = await database.query<ResultRow>({ ...statement, values: [id, ownerId], idempotent: true });
    if (row === undefined) continue;
    const { result, metadata, contents } = row;
    return contents === null ? { result, metadata } : { result, metadata, output: toOutput(contents) };
  }
  return null;
}

const describeReadResult = (
  executions: string,
  results: string,
) => `select r.result, r.metadata, case when r.has_output then (
    select jsonb_agg(jsonb_build_object('name', o.name, 'hash', o.hash, 'bytes', o.bytes) order by o.name)
    from execution_output o where o.execution_id = $1
  ) end as contents
  from ${executions} e join ${results} r on r.id = $1
  where ${lookUp("e", "$1::uuid", "e.owner_id = $2 and e.status = 'SUCCEEDED'")}`;
const READ_RESULT = {
  name: "execution-read-result",
  text: describeReadResult("execution", "execution_result"),
} as const;
const READ_KEPT_RESULT = {
  name: "execution-read-kept-result",
  text: describeReadResult("kept_execution", "kept_result"),
} as const;

interface ResultRow {
  readonly result: Buffer;
  readonly metadata: Buffer | null;
  /** Null: there is none. */
  readonly contents: readonly StoredFile[] | null;
}

function toOutput(contents: NonNullable<ResultRow["contents"]>): StoredOutput {
  const result = contents.find(({ name }) => name === RESULT_NAME);
  return {
    result: result === undefined ? null : { hash: result.hash, bytes: result.bytes },
    files: contents.filter((content) => content !== result),
  };
}

/** How much the clocks of the process (ids) and the database (created_at) may differ without a row being missed. */
const CLOCK_SLACK = 5 * MINUTE;
const LOWEST_ID = "00000000-0000-0000-0000-000000000000";
const HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/*
 * Reads each status separately, newest first, from the index on owner, status and id. The conditions compare the three
 * columns as a row, and the order names all three. With equalities the planner could walk the ids of all owners, or of all
 * statuses, when its statistics suggest that the first rows suffice; for a rare status it would then read everything. The
 * bounds on the id alone are implied, but let PostgreSQL skip the partitions of other days.
 */
const describePart = (table: string, parts: RecordParts, live: string) => `(
      select ${selectRecord("e", parts)}, ${live} from ${table} e
      where (e.owner_id, e.status, e.id) >= ($1::uuid, wanted.status, $3::uuid)
        and (e.owner_id, e.status, e.id) < ($1::uuid, wanted.status, $4::uuid)
        and e.id >= $3 and e.id < $4
        and e.created_at >= to_timestamp($5::float8 / 1000) and e.created_at < to_timestamp($6::float8 / 1000)
      order by e.owner_id desc, e.status desc, e.id desc limit $7
    )`;

/** While a day is being closed, an execution is in both tables: each can come twice. */
const LIST = `select e.* from unnest($2::text[]) as wanted (status) cross join lateral (
    ${describePart("execution", { logDays: selectLogDays("e") }, `${selectLive("e")}, ${selectProgress("e")}`)}
    union all ${describePart("kept_execution", { startBy: NO_START_BY }, `${NOT_LIVE}, ${selectKeptProgress("e")}`)}
  ) e order by e.id desc limit 2 * $7`;

/** `ExecutionStore.list` for PostgreSQL. @throws Problem INVALID_INPUT for an invalid cursor */
export async function listExecutions(
  database: Database,
  ownerId: string,
  filter: ListFilter,
): Promise<Page<ExecutionRecord>> {
  const [before = HIGHEST_ID] = decodeCursor(filter.cursor, [isUuid]) ?? [];
  if (!isUuid(ownerId)) return { items: [], nextCursor: null };
  const { status, createdAfter = -Infinity, createdBefore = Infinity, limit } = filter;
  const lowest = createdAfter === -Infinity ? LOWEST_ID : getLowestUuid(createdAfter - CLOCK_SLACK);
  const highest = createdBefore === Infinity ? HIGHEST_ID : getLowestUuid(createdBefore + CLOCK_SLACK);
  const rows = await database.query<RecordRow & LiveRow>({
    name: "execution-list",
    text: LIST,
    values: [
      ownerId,
      status === undefined ? EXECUTION_STATUSES : [status],
      lowest,
      before.toLowerCase() < highest ? before : highest,
      createdAfter,
      createdBefore,
      limit + 1,
    ],
    idempotent: true,
  });
  const unique = new Map(rows.map((row) => [row.id, row]));
  return cutPage([...unique.values()].slice(0, limit + 1).map(toLiveRecord), limit, (record) => [record.id]);
}
