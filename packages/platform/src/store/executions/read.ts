import type { ExecutionRecord, ListFilter, Page, StoredResult } from "@platform/engine/ports";
import type { Database } from "../../postgres/database.ts";
import { cutPage, decodeCursor } from "../page.ts";
import { getLowestUuid, isUuid } from "../uuid.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

export async function findExecution(
  database: Database,
  id: string,
  ownerId: string,
): Promise<ExecutionRecord | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  const [row] = await database.query<RecordRow>({
    name: "execution-find",
    text: `select ${selectRecord("e")} from execution e where e.id = $1 and e.owner_id = $2`,
    values: [id, ownerId],
    idempotent: true,
  });
  return row === undefined ? null : toRecord(row);
}

export async function readResult(
  database: Database,
  id: string,
  ownerId: string,
): Promise<StoredResult | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  const [row] = await database.query<{ result: Buffer; metadata: Buffer | null }>({
    name: "execution-read-result",
    text: `select r.result, r.metadata from execution_result r join execution e on e.id = $1
      where r.id = $1 and e.owner_id = $2 and e.state = 'SUCCEEDED'`,
    values: [id, ownerId],
    idempotent: true,
  });
  return row ?? null;
}

/** The clock that makes ids and the one that fills created_at may differ by so much without a row being missed. */
const CLOCK_SLACK = 3_600_000;

export async function listExecutions(
  database: Database,
  ownerId: string,
  filter: ListFilter,
): Promise<Page<ExecutionRecord>> {
  const [before] = decodeCursor(filter.cursor, [isUuid]) ?? [null];
  if (!isUuid(ownerId)) return { items: [], nextCursor: null };
  const conditions = ["e.owner_id = $1"];
  const values: unknown[] = [ownerId];
  const add = (value: unknown, toCondition: (parameter: string) => string) => {
    values.push(value);
    conditions.push(toCondition(`$${values.length}`));
  };
  if (before !== null) add(before, (parameter) => `e.id < ${parameter}`);
  if (filter.status !== undefined) add(filter.status, (parameter) => `e.state = ${parameter}`);
  // The bounds on the id say nothing new, but let whole days be skipped.
  if (filter.createdAfter !== undefined) {
    add(filter.createdAfter, (parameter) => `e.created_at >= to_timestamp(${parameter}::float8 / 1000)`);
    add(getLowestUuid(filter.createdAfter - CLOCK_SLACK), (parameter) => `e.id >= ${parameter}`);
  }
  if (filter.createdBefore !== undefined) {
    add(filter.createdBefore, (parameter) => `e.created_at < to_timestamp(${parameter}::float8 / 1000)`);
    add(getLowestUuid(filter.createdBefore + CLOCK_SLACK), (parameter) => `e.id < ${parameter}`);
  }
  values.push(filter.limit + 1);
  const rows = await database.query<RecordRow>({
    text: `select ${selectRecord("e")} from execution e where ${conditions.join(" and ")}
      order by e.id desc limit $${values.length}`,
    values,
    idempotent: true,
  });
  return cutPage(rows, filter.limit, toRecord, (row) => [row.id]);
}
