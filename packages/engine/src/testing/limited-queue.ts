import type { Claim, ExecutionStore, NewExecution } from "../store/execution-store.ts";
import type { Limits } from "../store/limit-rules.ts";
import type { Owner } from "../store/owner.ts";
import { createExecution, emptyQueue, finishAll, request } from "./execution-fixtures.ts";

/** Services whose executions are limited, of the adapter under test. */
export interface LimitsUnderTest {
  /** Key of a new service with these limits; null: it has none. */
  readonly createService: (limits: Limits | null) => Promise<string>;
  /** Null: takes the limits back. */
  readonly setLimits: (serviceKey: string, limits: Limits | null) => Promise<void>;
}

/** Executions of a service that have not ended. */
interface LimitCounts {
  readonly running: number;
  /** In the queue, or running. */
  readonly places: number;
  readonly held: number;
}

/** A store of executions, and services with limits. */
export interface LimitedQueue extends LimitsUnderTest {
  readonly store: ExecutionStore;
  readonly start: (limitKey: string, owner: Owner, more?: Partial<NewExecution>) => Promise<NewExecution>;
  /** One after the other; their ids. */
  readonly startMany: (limitKey: string, owner: Owner, count: number) => Promise<readonly string[]>;
  /** Rounds until one releases nothing; how many were released. */
  readonly release: () => Promise<number>;
  /** What a worker that has room for `limit` of them claims. */
  readonly claim: (limit?: number) => Promise<readonly Claim[]>;
  readonly count: (limitKey: string) => Promise<LimitCounts>;
  /** Ends all that runs, and runs all that waits. */
  readonly empty: () => Promise<void>;
}

/** Knows of executions what it has started. */
export function createLimitedQueue(store: ExecutionStore, limits: LimitsUnderTest): LimitedQueue {
  const started: NewExecution[] = [];
  const claimed: Claim[] = [];
  const start: LimitedQueue["start"] = async (limitKey, owner, more = {}) => {
    const execution = createExecution({ owner, limitKey, ...more });
    started.push(execution);
    await store.create(execution);
    return execution;
  };
  const release = async () => {
    let sum = 0;
    for (;;) {
      const { released } = await store.releaseDue();
      sum += released;
      if (released === 0) return sum;
    }
  };
  return {
    ...limits,
    store,
    start,
    startMany: async (limitKey, owner, count) => {
      const ids: string[] = [];
      for (let index = 0; index < count; index++) ids.push((await start(limitKey, owner)).id);
      return ids;
    },
    release,
    claim: async (limit = 1_000) => {
      const { claims } = await store.claim(request({ limit }));
      claimed.push(...claims);
      return claims;
    },
    count: async (limitKey) => {
      const ours = started.filter((execution) => execution.limitKey === limitKey);
      const records = await Promise.all(ours.map(({ id, owner }) => store.find(id, owner.id)));
      const running = records.filter((record) => record?.status === "RUNNING").length;
      const pending = records.filter((record) => record?.status === "PENDING");
      const held = pending.filter((record) => record?.live !== undefined && "held" in record.live).length;
      return { running, places: running + pending.length - held, held };
    },
    empty: async () => {
      await finishAll(store, claimed.splice(0));
      do await emptyQueue(store);
      while ((await release()) > 0);
    },
  };
}
