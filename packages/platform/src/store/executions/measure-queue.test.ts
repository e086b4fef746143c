import { randomUUID } from "node:crypto";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

let close: TestStore["close"];
let home: TestStore["home"];
let store: TestStore["store"];

beforeAll(async () => {
  ({ close, home, store } = await createTestStore());
});

afterAll(() => close());

async function start(memory: number): Promise<string> {
  const id = createUuidV7();
  await store.create({
    id,
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  return id;
}

async function measure(): Promise<unknown> {
  const { parts, workers } = await store.measureQueue();
  return { workers, ...Object.fromEntries(parts.map(({ reason, count }) => [reason, count])) };
}

test("what waits is counted by its reason, with the age of the oldest", async () => {
  expect(await measure()).toEqual({ workers: 0 });
  const oldest = await start(1);
  await start(1);
  await start(64);
  expect(await measure()).toEqual({ workers: 0, NO_WORKER: 3 });
  const capacity = { cpu: 8, memory: 16 };
  const worker = { free: capacity, excludedVersionIds: [], reservedId: null, reservesAfterSeconds: null };
  await store.report({ workerId: "one", capacity, ...worker });
  expect(await measure()).toEqual({ workers: 1, QUEUE: 2, NO_LARGE_WORKER: 1 });
  await home.database.query({
    text: "update execution set not_before = now() + interval '1 hour', created_at = '2026-01-01Z' where id = $1",
    values: [oldest],
  });
  expect(await measure()).toEqual({ workers: 1, SETBACK: 1, QUEUE: 1, NO_LARGE_WORKER: 1 });
  const { parts } = await store.measureQueue();
  expect(parts.find(({ reason }) => reason === "SETBACK")?.oldestAt).toBe(Date.UTC(2026, 0, 1));
  // A worker that fell silent starts nothing.
  await home.database.query({ text: "update worker set seen_at = now() - interval '1 minute'" });
  expect(await measure()).toEqual({ workers: 0, SETBACK: 1, NO_WORKER: 2 });
});
