import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";
import { createBackendQueues } from "./backend-queues.ts";

let scene: QuantumScene;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());

/** Counts the statements that are made, each of which takes so long by its own clock. */
function createCounter(tookMs: number) {
  const { database } = scene.home;
  const counter = { statements: 0, at: 0 };
  const query: typeof database.query = async (statement) => {
    counter.statements += 1;
    counter.at += tookMs;
    return await database.query(statement);
  };
  return { counter, queues: createBackendQueues({ query }, () => counter.at) };
}

test("however often it is asked how many jobs wait, they are counted once a second", async () => {
  const user = await createTestUser(scene.instance);
  const serviceKey = await scene.createBackend(user, "sim.busy");
  const start = async () => await scene.call(user, "POST /jobs", { ...TEST_JOB, backend_id: "sim.busy" });
  await start();
  await start();
  const { counter, queues } = createCounter(0);
  const asked = await Promise.all(Array.from({ length: 50 }, async () => await queues.read()));
  for (let count = 50; count > 0; count--) asked.push(await queues.read());
  expect(new Set(asked.map((jobs) => jobs.get(serviceKey)))).toEqual(new Set([2]));
  expect(counter.statements).toBe(1);
  await start();
  counter.at += 1_000;
  expect((await queues.read()).get(serviceKey)).toBe(3);
  expect(counter.statements).toBe(2);
});

test("what takes long to count is counted less often", async () => {
  const { counter, queues } = createCounter(500);
  await queues.read();
  counter.at += 9_999;
  await queues.read();
  expect(counter.statements).toBe(1);
  counter.at += 1;
  await queues.read();
  expect(counter.statements).toBe(2);
});
