import { readMonotonic } from "../../base/monotonic.ts";
import type { Settings } from "../port/settings.ts";
import { planMemory } from "./memory-policy.ts";
import type { MemoryPlan, WarmZygote } from "./memory-policy.ts";
import type { VersionPool } from "./version-pool.ts";
import type { ZygoteMemory } from "./zygote-memory.ts";

/** A zygote is measured when it is new, and about this often while nothing of it runs. */
const MEASURE_MS = 10_000;

/** Knows how much memory the zygotes of a runtime take. What it holds goes with the pools. */
interface MemoryKeeper {
  /** Measures at most one zygote that was measured before, and those that were not. Never rejects. */
  readonly measure: (pools: Iterable<VersionPool>) => Promise<void>;
  /** @param starting id of a version whose zygote is about to be started; it counts as well */
  readonly plan: (pools: ReadonlyMap<string, VersionPool>, starting?: string) => MemoryPlan;
}

interface Measurement extends ZygoteMemory {
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Nothing is measured at first. */
export function createMemoryKeeper(settings: Settings): MemoryKeeper {
  const known = new WeakMap<VersionPool, Measurement>();
  let measuring: Promise<void> | null = null;

  async function measureDue(pools: Iterable<VersionPool>): Promise<void> {
    for (const pool of listDue([...pools], known)) {
      const memory = await pool.measure();
      // Something began meanwhile, and was measured as well.
      if (known.has(pool) && pool.isBusy()) continue;
      if (memory === null) known.delete(pool);
      else known.set(pool, { ...memory, at: readMonotonic() });
    }
  }

  function describe(id: string, pool: VersionPool): WarmZygote {
    const { totalBytes = null, idleBytes = 0 } = known.get(pool) ?? {};
    return { id, totalBytes, idleBytes, lastUsed: pool.lastUsed(), use: pool.isBusy() ? "busy" : "idle" };
  }

  return {
    measure: async (pools) => {
      measuring ??= measureDue(pools).finally(() => (measuring = null));
      await measuring;
    },
    plan: (pools, starting) => {
      const warm = [...pools].filter(([, pool]) => pool.hasZygote());
      const zygotes = warm.map(([id, pool]) => describe(id, pool));
      const more = starting === undefined ? [] : [describeStarting(starting)];
      return planMemory([...zygotes, ...more], settings);
    },
  };
}

function describeStarting(id: string): WarmZygote {
  return { id, totalBytes: null, idleBytes: 0, lastUsed: readMonotonic(), use: "busy" };
}

function listDue(
  pools: readonly VersionPool[],
  known: WeakMap<VersionPool, Measurement>,
): readonly VersionPool[] {
  const warm = pools.filter((pool) => pool.hasZygote());
  const dueAt = (pool: VersionPool): number => (known.get(pool)?.at ?? 0) + MEASURE_MS;
  const [oldest] = warm
    .filter((pool) => known.has(pool) && !pool.isBusy() && dueAt(pool) <= readMonotonic())
    .sort((left, right) => dueAt(left) - dueAt(right));
  const unknown = warm.filter((pool) => !known.has(pool));
  return oldest === undefined ? unknown : [...unknown, oldest];
}
