import { randomUUID } from "node:crypto";
import type { WorkerReport } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwner, createExecution } from "@platform/engine/testing/execution-fixtures";
import { createUuidV7 } from "@platform/engine/base/uuid";
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
