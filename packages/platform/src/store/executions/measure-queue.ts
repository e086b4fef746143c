import type { WAITING_REASONS } from "@platform/contract/execution";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { isHeld, isQueued, selectReadySince } from "./queue-rows.ts";
import { TAKES_WORK } from "./workers.ts";

/** Why executions are PENDING, as their records say it. */
export const QUEUE_REASONS = [
  "QUEUE",
  "START_AT",
  // Here for limits of subscriptions as well: to tell them apart, places would have to be counted.
  "SERVICE_LIMIT",
  "SETBACK",
  "NO_WORKER",
  "NO_LARGE_WORKER",
] as const satisfies readonly (keyof typeof WAITING_REASONS)[];
type QueueReason = (typeof QUEUE_REASONS)[number];

/** The executions that wait for one reason. */
interface QueuePart {
  readonly reason: QueueReason;
  readonly count: number;
  /** Since when the oldest could begin: when it was created, or is to begin as its start has asked; milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** What waits, and who could start it. Reasons without executions are left out. */
export interface QueueMeasure {
  readonly parts: readonly QueuePart[];
  readonly workers: number;
}

const MEASURE = `with live as materialized (select w.kind, w.cpu_milli, w.memory_milli from worker w where ${TAKES_WORK})
  select reason, count(*)::int as count, min(${selectMilliseconds("since")}) as "oldestAt", (select count(*)::int from live) as workers
  from (
    select ${selectReadySince("e")} as since, case
        when e.held = 'LIMIT' then 'SERVICE_LIMIT'
        when e.held is not null then e.held
        when e.not_before > now() then 'SETBACK'
        when not exists (select 1 from live where live.kind = e.kind) then 'NO_WORKER'
        when not exists (select 1 from live where live.kind = e.kind and live.cpu_milli >= e.cpu_milli and live.memory_milli >= e.memory_milli)
          then 'NO_LARGE_WORKER'
        else 'QUEUE' end as reason
    from (
      select *, case priority when ${BACKEND_PRIORITY} then 'backend' else 'service' end as kind from (
        select * from execution e where ${isQueued("e")} union all select * from execution e where ${isHeld("e")}
      ) e
    ) e
  ) waiting group by reason
  union all select null, null, null, (select count(*)::int from live)`;

type Row = { readonly workers: number } & (QueuePart | { readonly reason: null });

/** All that is PENDING, by reason. Reads the index of the queue and its rows: some 0.1 s for 100,000. */
export async function measureQueue(database: Database): Promise<QueueMeasure> {
  const rows = await database.query<Row>({
    name: "execution-measure-queue",
    text: MEASURE,
    idempotent: true,
  });
  return {
    parts: rows.filter((row) => row.reason !== null),
    workers: rows[0]?.workers ?? 0,
  };
}
