import type { ExecutionStore } from "@platform/engine/store/execution-store";
import type { BuildStore } from "../store/builds/builds.ts";
import { createDiskProblem } from "./disk-guard.ts";
import type { DiskGuard } from "./disk-guard.ts";

/** Takes no starts while the disk is full; whoever runs something may end it. */
export function guardExecutions<S extends ExecutionStore>(store: S, disk: DiskGuard): S {
  return {
    ...store,
    create: async (execution) => {
      if (disk.isFull()) throw createDiskProblem();
      return store.create(execution);
    },
  };
}

/** Gives out no builds while the disk is low: they wait. */
export function guardBuilds(store: BuildStore, disk: DiskGuard): BuildStore {
  return {
    ...store,
    claim: async (workerId, leaseSeconds) => (disk.isLow() ? null : store.claim(workerId, leaseSeconds)),
  };
}
