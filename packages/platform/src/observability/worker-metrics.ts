import type { Resources } from "@platform/contract/project";
import { GIGABYTE } from "@platform/engine/base/bytes";
import type { PythonRuntime } from "@platform/engine/python/port/runtime";
import type { Dispatcher } from "@platform/engine/worker/dispatcher";
import type { Collector } from "./exposition.ts";

/** What a worker has in hand, and its processes. `capacity`: vCPUs and GB. */
export function collectWorker(worker: {
  readonly dispatcher: Pick<Dispatcher, "readLoad">;
  readonly runtime: Pick<PythonRuntime, "readLoad">;
  readonly capacity: Resources;
}): Collector {
  return (exposition) => {
    const { inHand, free } = worker.dispatcher.readLoad();
    const { zygotes, idleChildren, runningChildren } = worker.runtime.readLoad();
    const { cpu, memory } = worker.capacity;
    exposition.add("platform_worker_executions", {}, inHand);
    exposition.add("platform_worker_cpus", { state: "free" }, free.cpu);
    exposition.add("platform_worker_cpus", { state: "used" }, cpu - free.cpu);
    exposition.add("platform_worker_memory_bytes", { state: "free" }, free.memory * GIGABYTE);
    exposition.add("platform_worker_memory_bytes", { state: "used" }, (memory - free.memory) * GIGABYTE);
    exposition.add("platform_zygotes", {}, zygotes);
    exposition.add("platform_children", { state: "idle" }, idleChildren);
    exposition.add("platform_children", { state: "running" }, runningChildren);
  };
}
