import { readMonotonic } from "../../base/monotonic.ts";
import type { RunnableVersion } from "../port/runtime.ts";
import type { PoolHost } from "./boot.ts";
import { createMemoryKeeper } from "./memory-keeper.ts";
import type { MemoryPlan } from "./memory-policy.ts";
import { createVersionPool } from "./version-pool.ts";
import type { VersionPool } from "./version-pool.ts";

/** The pools of a runtime, one per version. */
export interface VersionPools {
  readonly find: (version: RunnableVersion) => VersionPool;
  /** Called about every second: ends idle processes, and those that take more memory than they may. */
  readonly tick: () => void;
  /** Ends the zygote of a version once nothing runs; resolves when it has ended. */
  readonly retire: (versionId: string) => Promise<void>;
  /** Ends all zygotes now. */
  readonly close: () => Promise<void>;
}

/** Has no pools at first: `find` creates that of a version, and ends the least recently used idle zygote if there are too many. */
export function createVersionPools(host: PoolHost): VersionPools {
  const { maxZygotes, zygoteMemoryBytes, zygoteIdleMs } = host.settings;
  const pools = new Map<string, VersionPool>();
  const retiring = new Map<VersionPool, Promise<void>>();
  const keeper = createMemoryKeeper({ budgetBytes: zygoteMemoryBytes, maxZygotes });

  function cut({ cuts }: MemoryPlan): void {
    for (const { id, what } of cuts) {
      const pool = pools.get(id);
      if (what === "children") pool?.trim();
      else if (pool !== undefined) void retirePool(id, pool);
    }
  }

  async function retirePool(id: string, pool: VersionPool): Promise<void> {
    if (pools.get(id) === pool) pools.delete(id);
    const gone = pool.retire();
    retiring.set(pool, gone);
    await gone;
    retiring.delete(pool);
  }

  return {
    find: (version) => {
      const known = pools.get(version.id);
      if (known?.hasZygote() === true) return known;
      cut(keeper.plan(pools, version.id));
      const pool = known ?? createVersionPool(host, version);
      pools.set(version.id, pool);
      return pool;
    },
    tick: () => {
      const plan = keeper.plan(pools);
      cut(plan);
      const now = readMonotonic();
      for (const [id, pool] of pools) {
        pool.tick(plan.memory);
        if (!pool.hasZygote() && !pool.isBusy() && now - pool.lastUsed() > zygoteIdleMs) pools.delete(id);
      }
      void keeper.measure(pools.values());
    },
    retire: async (versionId) => {
      const pool = pools.get(versionId);
      if (pool !== undefined) await retirePool(versionId, pool);
    },
    close: async () => {
      await Promise.all([...pools.values(), ...retiring.keys()].map((pool) => pool.close()));
      await Promise.all(retiring.values());
    },
  };
}
