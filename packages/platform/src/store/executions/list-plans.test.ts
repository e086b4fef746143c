import { randomUUID } from "node:crypto";
import type { ListFilter } from "@platform/engine/store/execution-store";
import { SECOND } from "@platform/engine/base/time";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database, Statement } from "../../postgres/database.ts";
import { createUuidAt } from "@platform/engine/testing/execution-fixtures";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase } from "./execution-store.ts";
import { listExecutions } from "./read.ts";

/** One execution each second of the last hours, all but one SUCCEEDED, of one owner. */
const COUNT = 20_000;
const NOW = Date.now();
const OWNER = randomUUID();
/** The clocks of two hosts may differ by five minutes; so many rows may be read in vain at each bound. */
const MOST_ROWS = 700;

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  database = createExecutionDatabase(home.target, { logger: home.logger });
  const times = Array.from({ length: COUNT }, (_, index) => NOW - (COUNT - index) * SECOND);
  await database.query({
    text: `insert into execution (id, owner_kind, owner_id, organisation_id, version_id, status, cpu_milli, memory_milli, timeout_seconds, worker_id,
        created_at, started_at, ended_at, failure_code)
      select i.id, 'organisation', $3, $3, $3, i.status, 1, 1, 1, 'w', i.time, i.time, i.time, case i.status when 'FAILED' then 'X' end
      from (
        select id, to_timestamp(ms / 1000) as time, case row_number() over (order by ms) when 7 then 'FAILED' else 'SUCCEEDED' end as status
        from unnest($1::uuid[], $2::float8[]) as raw (id, ms)
      ) i`,
    values: [times.map((time) => createUuidAt(time)), times, OWNER],
  });
});

afterAll(async () => {
  await database.close();
  await home.close();
});

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Node Type": string;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that the scans of a plan have read, wanted or not. */
function countRows(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + countRows(child), 0);
  if (!node["Node Type"].includes("Scan")) return below;
  return below + ((node["Rows Removed by Filter"] ?? 0) + node["Actual Rows"]) * node["Actual Loops"];
}

async function explainList(filter: ListFilter): Promise<{ rows: number; found: number }> {
  let sent: Statement = { text: "" };
  const page = await listExecutions(
    {
      ...database,
      query: (statement) => {
        sent = statement;
        return database.query(statement);
      },
    },
    OWNER,
    filter,
  );
  const [row] = await database.query<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>({
    text: `explain (analyze, format json) ${sent.text}`,
    ...(sent.values === undefined ? {} : { values: sent.values }),
  });
  const plan = row?.["QUERY PLAN"][0]?.Plan;
  if (plan === undefined) throw new Error("There is no plan.");
  return { rows: countRows(plan), found: page.items.length };
}

const MIDDLE = NOW - (COUNT / 2) * SECOND;
const FILTERS: readonly (readonly [string, Partial<ListFilter>, number])[] = [
  ["without a filter", {}, 25],
  ["one state of nearly all", { status: "SUCCEEDED" }, 25],
  ["one state of very few", { status: "FAILED" }, 1],
  ["a state that none is in", { status: "PENDING" }, 0],
  ["a time from which on", { createdAfter: MIDDLE }, 25],
  ["a time before which", { createdBefore: MIDDLE }, 25],
  ["a span of time long ago", { createdAfter: 0, createdBefore: NOW - 2 * COUNT * SECOND }, 0],
  ["state and span", { status: "FAILED", createdAfter: MIDDLE, createdBefore: NOW }, 0],
  ["state and a time before which", { status: "SUCCEEDED", createdBefore: MIDDLE }, 25],
];

describe.each(["before", "after"])("a list of an owner with many executions, %s statistics", (moment) => {
  beforeAll(async () => {
    if (moment === "after") await home.database.query({ text: "analyze execution" });
  });

  test.each(FILTERS)("reads few rows: %s", async (_name, filter, expected) => {
    const { rows, found } = await explainList({ limit: 25, ...filter });
    expect(found).toBe(expected);
    expect(rows).toBeLessThan(MOST_ROWS);
  });
});
