import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { isQueued } from "./executions/queue-rows.ts";

/** How many jobs wait for backends. */
export interface BackendQueues {
  /** By the key of the service, of all versions and organisations; absent: none waits. Up to a second old, or older where it takes long to count. */
  readonly read: () => Promise<ReadonlyMap<string, number>>;
}

/** Of all backends together; more are not counted. */
const MOST_COUNTED = 10_000;
/** Of the time of one connection, counting takes one part in so many at most. */
const SHARE = 20;

/** The class of backends is a range of the queue's index, which is gone through once for all of them. */
const COUNT = `select v.service_key as "serviceKey", count(*)::int as jobs from (
    select e.version_id from execution e where ${isQueued("e")} and e.priority = ${BACKEND_PRIORITY} limit ${MOST_COUNTED}
  ) e join version v on v.id = e.version_id group by 1`;

interface Counted {
  readonly jobs: ReadonlyMap<string, number>;
  readonly tookMs: number;
}

/** Counted once a second for all who ask, however often they do. One per process. `now`: milliseconds on any clock. */
export function createBackendQueues(
  database: Pick<Database, "query">,
  now: () => number = readMonotonic,
): BackendQueues {
  const ttlMs = ({ tookMs }: Counted): number => Math.max(SECOND, tookMs * SHARE);
  const counted = createCache<Counted>({ maxEntries: 1, ttlMs, now });
  const count = async (): Promise<Counted> => {
    const began = now();
    const rows = await database.query<{ readonly serviceKey: string; readonly jobs: number }>({
      name: "backend-queues",
      text: COUNT,
      idempotent: true,
    });
    const jobs = new Map(rows.map(({ serviceKey, jobs: waiting }) => [serviceKey, waiting]));
    return { jobs, tookMs: now() - began };
  };
  return { read: async () => (await counted.get("all", count)).jobs };
}
