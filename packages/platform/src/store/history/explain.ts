import type { Resources } from "@platform/contract/project";
import { WORKER_SILENCE_SECONDS } from "@platform/engine/store/execution-store";
import { BACKEND_PRIORITY, kindOf } from "@platform/engine/store/kinds";
import type { Database } from "../../postgres/database.ts";
import { fromStoredResources } from "../base/columns.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { lookUp } from "../executions/lookup.ts";
import { isBound, isQueued, selectReadySince } from "../executions/queue-rows.ts";

/** What decides when an execution that waits is claimed. */
export interface QueuePlace {
  /** Executions of its kind before it, of all owners; at most MOST_AHEAD. */
  readonly ahead: number;
  /** Whether a worker gave it back, so that it is not claimed before a pause is over. */
  readonly isPaused: boolean;
  /** When it is to enter the queue, as its start has asked; milliseconds since the epoch. Null: it is there. */
  readonly startAt: number | null;
  /** When it ends if it has not begun by then; milliseconds since the epoch. Null: never. */
  readonly startBy: number | null;
  /** Whether it waits for a place of a limit of its service's policy. */
  readonly isLimited: boolean;
  /** How often it was given back since it could not be started. */
  readonly setbacks: number;
  /** How many attempts have failed that are followed by another. */
  readonly retried: number;
  /** Of each live worker: what it has, and what of that nothing that runs takes. */
  readonly workers: readonly { readonly capacity: Resources; readonly free: Resources }[];
  /** Milliseconds; null: too few have started. */
  readonly typicalWaitMs: number | null;
}

/** More are not counted. */
export const MOST_AHEAD = 10_000;
/** Of these the median wait is taken, if they are at least so many. */
const TYPICAL_OF = 50;
const FEWEST_TYPICAL = 5;
/** More live workers are not looked at, nor more of what runs. */
const MOST_WORKERS = 1_000;
const MOST_RUNNING = 50_000;

/**
 * In the order in which executions are claimed (executions/claim.ts). Those that are paused as well: their pauses are short. Asked of an
 * execution that its organisation may see; nothing but numbers and sizes of workers comes from elsewhere.
 */
const PLACE = `with self as materialized (
    select e.* from execution e where ${lookUp("e", "$1::uuid", "e.status = 'PENDING'")}
  )
  select coalesce(self.not_before > now(), false) as "isPaused", self.priority, self.setbacks, self.retried,
    case when self.held = 'START_AT' then ${selectMilliseconds("self.start_at")} end as "startAt",
    case when ${isBound("self")} then ${selectMilliseconds("self.start_by")} end as "startBy", coalesce(self.held = 'LIMIT', false) as "isLimited",
    (select count(*)::int from (
      (select 1 from execution e where ${isQueued("e")} and e.priority > self.priority and e.priority < ${BACKEND_PRIORITY} limit ${MOST_AHEAD})
      union all
      (select 1 from execution e where ${isQueued("e")} and e.priority = self.priority and (e.rank, e.id) < (self.rank, self.id)
        limit ${MOST_AHEAD})
      limit ${MOST_AHEAD}
    ) before) as ahead,
    (select percentile_disc(0.5) within group (order by waited)::float8 from (
      select extract(epoch from e.started_at - ${selectReadySince("e")}) * 1000 as waited from (
        select e.* from execution e where e.owner_id = self.owner_id and e.status = 'SUCCEEDED' order by e.id desc limit ${TYPICAL_OF}
      ) e where e.version_id = self.version_id
    ) last having count(*) >= ${FEWEST_TYPICAL}) as "typicalWaitMs"
  from self`;

const WORKERS = `with used as materialized (
    select worker_id, sum(cpu_milli)::int as cpu_milli, sum(memory_milli)::int as memory_milli
    from (select worker_id, cpu_milli, memory_milli from execution where lease_until is not null limit ${MOST_RUNNING}) e group by worker_id
  )
  select w.cpu_milli as "cpu", w.memory_milli as "memory", coalesce(u.cpu_milli, 0) as "usedCpu", coalesce(u.memory_milli, 0) as "usedMemory"
  from (select * from worker where seen_at > now() - interval '${WORKER_SILENCE_SECONDS} seconds' and draining_since is null
      and kind = $1 limit ${MOST_WORKERS}) w
    left join used u on u.worker_id = w.id`;

interface WorkerRow {
  readonly cpu: number;
  readonly memory: number;
  readonly usedCpu: number;
  readonly usedMemory: number;
}

interface PlaceRow extends Omit<QueuePlace, "workers"> {
  readonly priority: number;
}

/** Null: it does not wait. `id` is of an execution that the asker may see. */
export async function findPlace(database: Pick<Database, "query">, id: string): Promise<QueuePlace | null> {
  const [row] = await database.query<PlaceRow>({
    name: "history-place",
    text: PLACE,
    values: [id],
    idempotent: true,
  });
  if (row === undefined) return null;
  const workers = await database.query<WorkerRow>({
    name: "history-workers",
    text: WORKERS,
    values: [kindOf(row.priority)],
    idempotent: true,
  });
  const { priority: _class, ...place } = row;
  return { ...place, workers: workers.map(toWorker) };
}

function toWorker({ cpu, memory, usedCpu, usedMemory }: WorkerRow): QueuePlace["workers"][number] {
  return {
    capacity: fromStoredResources({ cpu_milli: cpu, memory_milli: memory }),
    free: fromStoredResources({
      cpu_milli: Math.max(0, cpu - usedCpu),
      memory_milli: Math.max(0, memory - usedMemory),
    }),
  };
}
