import { readMonotonic } from "../../base/monotonic.ts";
import type { RunnableVersion } from "../port/runtime.ts";
import type { PoolHost } from "./boot.ts";
import { createVersionPool } from "./version-pool.ts";
import type { VersionPool } from "./version-pool.ts";

/** The pools of a runtime, one per version. */
export interface VersionPools {
  readonly find: (version: RunnableVersion) => VersionPool;
  /** Called about every second: ends idle processes. */
  readonly tick: () => void;
  /** Ends the zygote of a version once nothing runs; resolves when it has ended. */
  readonly retire: (versionId: string) => Promise<void>;
  /** Ends all zygotes now. */
  readonly close: () => Promise<void>;
}

/** Has no pools at first: `find` creates that of a version, and ends the least recently used idle zygote if there are too many. */
export function createVersionPools(host: PoolHost): VersionPools {
  const { maxZygotes, zygoteIdleMs } = host.settings;
  const pools = new Map<string, VersionPool>();
  const retiring = new Map<VersionPool, Promise<void>>();

  /** Bounds the memory: the least recently used idle zygote is ended. */
  function makeRoom(): void {
    const warm = [...pools].filter(([, pool]) => pool.hasZygote());
    if (warm.length < maxZygotes) return;
    const [oldest] = warm
      .filter(([, pool]) => !pool.isBusy())
      .sort(([, left], [, right]) => left.lastUsed() - right.lastUsed());
    if (oldest !== undefined) void retirePool(oldest[0], oldest[1]);
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
      if (known !== undefined) return known;
      makeRoom();
      const pool = createVersionPool(host, version);
      pools.set(version.id, pool);
      return pool;
    },
    tick: () => {
      const now = readMonotonic();
      for (const [id, pool] of pools) {
        pool.tick();
        if (!pool.hasZygote() && !pool.isBusy() && now - pool.lastUsed() > zygoteIdleMs) pools.delete(id);
      }
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
