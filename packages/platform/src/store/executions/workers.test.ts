import { randomUUID } from "node:crypto";
import type { WorkerReport } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import { createOwner, createExecution, request } from "@platform/engine/testing/execution-fixtures";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { backendWorkerOf } from "../base/backend-worker.ts";
import { createWorkerOperations } from "../instance/operate-workers.ts";
import { createProcessStore } from "../instance/processes.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

let close: TestStore["close"];
let home: TestStore["home"];
let store: TestStore["store"];

beforeAll(async () => {
  ({ close, home, store } = await createTestStore());
});

afterAll(() => close());

const REPORT: WorkerReport = {
  workerId: "one",
  capacity: { cpu: 8, memory: 16 },
  free: { cpu: 8, memory: 4 },
  excludedVersionIds: [],
  reservedId: null,
  reservesAfterSeconds: 0,
};

/** As if its last report were so long ago. */
async function silence(workerId: string, interval: string): Promise<void> {
  await home.database.query({
    text: "update worker set seen_at = now() - $2::interval where id = $1",
    values: [workerId, interval],
  });
}

test("a worker that fell silent counts for nothing: not its capacity, and not what it made room for", async () => {
  const id = createUuidV7();
  const owner = createOwner();
  await store.create({
    id,
    owner,
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 8 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  expect(await store.report(REPORT)).toMatchObject({ id });
  await silence("one", "20 seconds");
  expect(await store.report({ ...REPORT, workerId: "two" })).toBeNull();
  expect(await store.listWorkers()).toHaveLength(2);
  await silence("one", "31 seconds");
  expect(await store.listWorkers()).toHaveLength(1);
  expect(await store.report({ ...REPORT, workerId: "two" })).toMatchObject({ id });
  // It was only slow, and comes back: one of the two lets go.
  const both = [
    await store.report({ ...REPORT, reservedId: id }),
    await store.report({ ...REPORT, workerId: "two", reservedId: id }),
  ];
  expect(both.map((reservation) => reservation?.id ?? null)).toEqual([id, null]);
  await store.cancel(id, owner.id);
});

test("an execution counts as waiting from the moment it is created, though the column rounds that up to a millisecond", async () => {
  for (let turn = 0; turn < 200; turn++) {
    const execution = createExecution({ resources: { cpu: 1, memory: 8 } });
    await store.create(execution);
    expect(await store.report({ ...REPORT, workerId: "rounding" })).toMatchObject({ id: execution.id });
    await store.cancel(execution.id, execution.owner.id);
  }
  await store.leave("rounding");
});

test("workers that vanished long ago are forgotten", async () => {
  await store.report({ ...REPORT, workerId: "old" });
  await silence("old", "2 hours");
  await store.report({ ...REPORT, workerId: "new" });
  const rows = await home.database.query({ text: "select 1 from worker where id = 'old'" });
  expect(rows).toEqual([]);
});

test("a process counts for backends before there is one, by what it says, and once when it has a worker for them", async () => {
  const processes = createProcessStore(home.database);
  const id = randomUUID();
  const list = async () => (await store.listWorkers("backend")).filter(({ memory }) => memory === 3.5);
  const capacity = { cpu: 1.5, memory: 3.5 };
  await processes.report({
    id,
    host: "node-1",
    pid: 1,
    roles: ["worker"],
    version: "1.0.0",
    startedAt: Date.now(),
    disk: { free: 1, total: 1 },
    faults: [],
    sandbox: null,
    python: null,
    backendCapacity: capacity,
  });
  // It builds only.
  expect(await list()).toEqual([]);
  await store.report({ ...REPORT, workerId: id });
  expect(await list()).toEqual([capacity]);
  await store.report({ ...REPORT, workerId: backendWorkerOf(id), kind: "backend", capacity, free: capacity });
  expect(await list()).toEqual([capacity]);
  await store.leave(backendWorkerOf(id));
  await silence(id, "31 seconds");
  expect(await list()).toEqual([]);
});

test("a worker that drains takes nothing for backends either, also where that worker of its process is not there yet", async () => {
  const operations = createWorkerOperations(home.database);
  const id = randomUUID();
  const lane = backendWorkerOf(id);
  const capacity = { cpu: 1, memory: 6.5 };
  const report = async () =>
    await store.report({ ...REPORT, workerId: lane, kind: "backend", capacity, free: capacity });
  const list = async () => (await store.listWorkers("backend")).filter(({ memory }) => memory === 6.5);
  await store.report({ ...REPORT, workerId: id });
  await operations.setDraining(id, true);
  await report();
  expect(await list()).toEqual([]);
  const job = createExecution({ priority: BACKEND_PRIORITY });
  await store.create(job);
  const claim = async () =>
    (await store.claim(request({ workerId: lane, kind: "backend", onlyId: job.id }))).claims.length;
  expect(await claim()).toBe(0);
  await operations.setDraining(id, false);
  expect([(await list()).length, await claim()]).toEqual([1, 1]);
  await operations.setDraining(id, true);
  expect(
    (await operations.list()).filter((one) => one.id.startsWith(id) && one.drainingSince !== null),
  ).toHaveLength(2);
});
