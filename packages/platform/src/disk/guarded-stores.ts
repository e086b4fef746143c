import type { ExecutionStore } from "@platform/engine/store/execution-store";
import type { BuildStore } from "../store/builds/builds.ts";
import { createDiskProblem } from "./disk-guard.ts";
import type { DiskGuard } from "./disk-guard.ts";

/** The same store, which refuses starts while the disk is full. Running executions can still be ended. */
export function guardExecutions<S extends ExecutionStore>(store: S, disk: DiskGuard): S {
  return {
    ...store,
    create: async (execution) => {
      if (disk.isFull()) throw createDiskProblem();
      return store.create(execution);
    },
    foresee: async (start) => {
      if (disk.isFull()) throw createDiskProblem();
      return store.foresee(start);
    },
  };
}

/** The same store, which has no builds to claim while the disk is low: they stay pending. */
export function guardBuilds(store: BuildStore, disk: DiskGuard): BuildStore {
  return {
    ...store,
    claim: async (workerId, leaseSeconds) => (disk.isLow() ? null : store.claim(workerId, leaseSeconds)),
  };
}
