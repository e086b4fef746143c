import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestUser } from "../testing/fixtures.ts";
import { createQuantumScene } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

let scene: QuantumScene;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());

const schedule = (serviceKey: string) => ({ name: "daily", cron: "0 9 * * *", target: { serviceKey } });

test("no schedule is made of what has a price, or changed to it", async () => {
  const user = await createTestUser(scene.instance);
  const priced = await scene.createBackend(user, "qpu.priced", { price: { currency: "EUR", perJob: 1 } });
  const free = await scene.createBackend(user, "sim.free");
  const send = async (method: "POST" | "PUT", path: string, payload: object) => {
    const headers = { "x-auth-token": user.token };
    const answer = await scene.instance.api.inject({
      method,
      url: `/api/schedules${path}`,
      headers,
      payload,
    });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
  const refused = {
    status: 400,
    body: { code: "INVALID_INPUT", detail: expect.stringContaining("POST /quantum/jobs") as unknown },
  };
  const ofPriced = schedule(priced);
  expect(await send("POST", "", ofPriced)).toMatchObject(refused);
  const { status, body } = await send("POST", "", schedule(free));
  expect(status).toBe(201);
  const path = `/${String(body["id"])}`;
  expect(await send("PUT", path, { target: ofPriced.target })).toMatchObject(refused);
  expect(await send("PUT", path, { cron: "0 8 * * *" })).toMatchObject({
    status: 200,
    body: { target: { serviceKey: free } },
  });
});
