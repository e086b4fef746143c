import { expect, test } from "vitest";
import { GIGABYTE } from "@platform/engine/base/bytes";
import { createExposition } from "./exposition.ts";
import { collectWorker } from "./worker-metrics.ts";

const lane = (inHand: number, cpu: number, memory: number) => ({
  readLoad: () => ({ inHand, free: { cpu, memory } }),
});

test("a worker counts what it runs of services and of backends apart", () => {
  const runtime = { readLoad: () => ({ zygotes: 2, idleChildren: 3, runningChildren: 4 }) };
  const collect = collectWorker(runtime, [
    { kind: "service", dispatcher: lane(1, 3, 6), capacity: { cpu: 4, memory: 8 } },
    { kind: "backend", dispatcher: lane(2, 0, 0.5), capacity: { cpu: 1, memory: 1 } },
  ]);
  const exposition = createExposition();
  collect(exposition);
  expect(exposition.toText().split("\n")).toEqual(
    expect.arrayContaining([
      'platform_worker_executions{kind="service"} 1',
      'platform_worker_executions{kind="backend"} 2',
      'platform_worker_cpus{kind="service",state="used"} 1',
      'platform_worker_cpus{kind="backend",state="used"} 1',
      'platform_worker_cpus{kind="backend",state="free"} 0',
      `platform_worker_memory_bytes{kind="backend",state="used"} ${0.5 * GIGABYTE}`,
      "platform_zygotes 2",
    ]),
  );
});
