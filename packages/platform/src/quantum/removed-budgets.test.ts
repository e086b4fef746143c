import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

let scene: QuantumScene;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());

test("a budget that is removed and set again has what jobs were started for meanwhile", async () => {
  const user = await createTestUser(scene.instance);
  await scene.createBackend(user, "qpu.priced", { price: { currency: "EUR", perJob: "0.5" } });
  const start = async () =>
    (await scene.call(user, "POST /jobs", { ...TEST_JOB, backend_id: "qpu.priced" })).status;
  await scene.call(user, "PUT /budgets/EUR", { amount: 1 });
  expect(await start()).toBe(201);
  expect((await scene.call(user, "DELETE /budgets/EUR")).status).toBe(204);
  expect(await start()).toBe(201);
  expect((await scene.call(user, "GET /budgets")).body).toEqual([]);
  const { body } = await scene.call(user, "PUT /budgets/EUR", { amount: 1 });
  expect(body).toMatchObject({ held: "1", left: "0" });
});
