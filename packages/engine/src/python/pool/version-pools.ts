import { readMonotonic } from "../../base/monotonic.ts";
import type { Execution } from "../child/execution.ts";
import type { RunnableVersion, RuntimeLoad } from "../port/runtime.ts";
import type { PoolHost } from "./boot.ts";
import { createMemoryKeeper } from "./memory-keeper.ts";
import type { MemoryPlan } from "./memory-policy.ts";
import { createVersionPool } from "./version-pool.ts";
import type { VersionPool } from "./version-pool.ts";

/** The pools of a runtime, one per version and tenant. */
interface VersionPools {
  readonly find: (version: RunnableVersion) => VersionPool;
  /** Removes an execution from the queue that it is in, if any: it was cancelled before it began. */
  readonly withdraw: (execution: Execution) => void;
  /** Called about every second: ends idle processes, and those that take more memory than they may; replaces zygotes. */
  readonly tick: () => void;
  /** Ends the zygotes of a version once nothing runs; resolves when they have ended. */
  readonly retire: (versionId: string) => Promise<void>;
  /** Ends all zygotes now. */
  readonly close: () => Promise<void>;
  readonly readLoad: () => RuntimeLoad;
  /** How many pools there are, also those that are being retired or have still to take over. */
  readonly count: () => number;
}

/** What a runtime's pools are kept in. */
interface Pools {
  readonly host: PoolHost;
  /** By `keyOf` the version. */
  readonly serving: Map<string, VersionPool>;
  /** Those that take over once they have a child ready; one at a time. */
  readonly successors: Map<string, VersionPool>;
  readonly retiring: Map<VersionPool, Promise<void>>;
}

/** Has no pools at first: `find` creates that of a version. */
export function createVersionPools(host: PoolHost): VersionPools {
  const pools: Pools = { host, serving: new Map(), successors: new Map(), retiring: new Map() };
  const { serving, successors, retiring } = pools;
  const keeper = createMemoryKeeper(host.settings);

  return {
    find: (version) => {
      const key = keyOf(version);
      const known = serving.get(key);
      if (known?.hasZygote() === true) return known;
      cut(pools, keeper.plan(serving, key));
      const pool = known ?? createPool(pools, version);
      serving.set(key, pool);
      return pool;
    },
    withdraw: (execution) => {
      const key = keyOf(execution.request.version);
      for (const pool of listPools(pools)) if (keyOf(pool.version) === key) pool.withdraw(execution);
    },
    tick: () => {
      const plan = keeper.plan(serving);
      cut(pools, plan);
      // Also those that leave: an execution may wait there for a child that does not come up, or lose a process to its memory limit.
      for (const pool of new Set(listPools(pools))) pool.tick(plan.memory);
      forget(pools);
      exchange(pools);
      void keeper.measure(serving.values());
    },
    retire: async (versionId) => {
      const all = [...serving.values()].filter(({ version }) => version.id === versionId);
      await Promise.all(all.map((pool) => retirePool(pools, pool)));
    },
    close: async () => {
      await Promise.all(listPools(pools).map((pool) => pool.close()));
      await Promise.all(retiring.values());
    },
    readLoad: () => {
      // One that is retiring may be listed twice.
      const all = [...new Set(listPools(pools))];
      const children = all.map((pool) => pool.countChildren());
      return {
        zygotes: all.filter((pool) => pool.hasZygote()).length,
        idleChildren: children.reduce((sum, { idle }) => sum + idle, 0),
        runningChildren: children.reduce((sum, { running }) => sum + running, 0),
      };
    },
    count: () => serving.size + successors.size + retiring.size,
  };
}

/** What has a pool of its own. Ids of versions and tenants have no blank. */
function keyOf({ id, tenant }: RunnableVersion): string {
  return tenant === undefined ? id : `${id} ${tenant}`;
}

/** One that is retiring may be among the others, too. */
function listPools({ serving, successors, retiring }: Pools): readonly VersionPool[] {
  return [...serving.values(), ...successors.values(), ...retiring.keys()];
}

function createPool(pools: Pools, version: RunnableVersion): VersionPool {
  const { host, serving, successors } = pools;
  const key = keyOf(version);
  const pool = createVersionPool(host, version, (reason) => {
    if (serving.get(key) !== pool || successors.size > 0) return;
    host.logger.info({ versionId: version.id, reason }, "a zygote is replaced");
    const successor = createPool(pools, version);
    successors.set(key, successor);
    successor.prepare();
  });
  return pool;
}

/** Lets successors take over that are ready, and drops those that could not be started. */
function exchange(pools: Pools): void {
  const { host, serving, successors } = pools;
  for (const [key, successor] of successors) {
    const old = serving.get(key);
    if (!successor.isReady() && successor.isComing()) continue;
    successors.delete(key);
    if (successor.isReady() && old !== undefined) {
      serving.set(key, successor);
      // What waits there for a child that does not come up would wait until the zygote is killed for it, a minute later.
      for (const execution of old.handBack()) successor.submit(execution);
      void retirePool(pools, old);
      continue;
    }
    host.logger.warn(
      { versionId: successor.version.id },
      "a zygote could not be replaced; the present one stays",
    );
    void retirePool(pools, successor);
  }
}

function cut(pools: Pools, { cuts }: MemoryPlan): void {
  for (const { id, what } of cuts) {
    const pool = pools.serving.get(id);
    if (what === "children") pool?.trim();
    else if (pool !== undefined) void retirePool(pools, pool);
  }
}

/** A version that nobody uses is not even remembered, nor a tenant of one. */
function forget({ host, serving }: Pools): void {
  const before = readMonotonic() - host.settings.zygoteIdleMs;
  for (const [key, pool] of serving)
    if (!pool.hasZygote() && !pool.isBusy() && pool.lastUsed() < before) serving.delete(key);
}

async function retirePool({ serving, successors, retiring }: Pools, pool: VersionPool): Promise<void> {
  const key = keyOf(pool.version);
  const successor = successors.get(key);
  const pools = [pool];
  if (serving.get(key) === pool) {
    serving.delete(key);
    successors.delete(key);
    if (successor !== undefined) pools.push(successor);
  }
  await Promise.all(
    pools.map(async (leaving) => {
      const gone = leaving.retire();
      retiring.set(leaving, gone);
      await gone;
      retiring.delete(leaving);
    }),
  );
}
