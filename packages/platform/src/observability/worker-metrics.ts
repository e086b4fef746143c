import type { ProjectKind, Resources } from "@platform/contract/project";
import { GIGABYTE } from "@platform/engine/base/bytes";
import type { PythonRuntime } from "@platform/engine/python/port/runtime";
import type { Dispatcher } from "@platform/engine/worker/dispatcher";
import type { Collector } from "./exposition.ts";

/** What runs executions of one kind in a worker. `capacity`: vCPUs and GB. */
export interface MeasuredLane {
  readonly kind: ProjectKind;
  readonly dispatcher: Pick<Dispatcher, "readLoad">;
  readonly capacity: Resources;
}

/** What a worker has in hand of each kind, and its processes. */
export function collectWorker(
  runtime: Pick<PythonRuntime, "readLoad">,
  lanes: readonly MeasuredLane[],
): Collector {
  return (exposition) => {
    const { zygotes, idleChildren, runningChildren } = runtime.readLoad();
    for (const { kind, dispatcher, capacity } of lanes) {
      const { inHand, free } = dispatcher.readLoad();
      const used = { cpu: capacity.cpu - free.cpu, memory: capacity.memory - free.memory };
      exposition.add("platform_worker_executions", { kind }, inHand);
      exposition.add("platform_worker_cpus", { kind, state: "free" }, free.cpu);
      exposition.add("platform_worker_cpus", { kind, state: "used" }, used.cpu);
      exposition.add("platform_worker_memory_bytes", { kind, state: "free" }, free.memory * GIGABYTE);
      exposition.add("platform_worker_memory_bytes", { kind, state: "used" }, used.memory * GIGABYTE);
    }
    exposition.add("platform_zygotes", {}, zygotes);
    exposition.add("platform_children", { state: "idle" }, idleChildren);
    exposition.add("platform_children", { state: "running" }, runningChildren);
  };
}
