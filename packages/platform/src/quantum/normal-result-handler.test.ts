import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDeferred } from "@platform/engine/base/deferred";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

let scene: QuantumScene;

beforeAll(async () => {
  scene = await createQuantumScene();
  await scene.createBackend(scene.provider, "sim.normal");
});
afterAll(() => scene?.close());

async function run(outcome: Outcome): Promise<string> {
  const job = { ...TEST_JOB, backend_id: "sim.normal" };
  const { body } = await scene.call(scene.provider, "POST /jobs", job);
  await scene.runNext(outcome);
  return String(body["id"]);
}

const getNormal = async (id: string) => await scene.call(scene.provider, `GET /jobs/${id}/result/normalized`);

/** Of a run whose result is in a file. Nobody has kept it: who reads it, fails otherwise. */
const succeedWithFile = (bytes: number): Outcome => ({
  status: "SUCCEEDED",
  result: Buffer.alloc(0),
  metadata: null,
  output: {
    result: {
      hash: "a".repeat(64),
      bytes,
      path: "",
      keep: async () => undefined,
      drop: async () => undefined,
    },
    files: [],
  },
});

test("a result of more than 4 MB has no normal form, and nothing of it is read", async () => {
  const id = await run(succeedWithFile(4_194_305));
  expect(await getNormal(id)).toMatchObject({
    status: 409,
    body: { code: "NO_NORMAL_FORM", detail: expect.stringContaining("more than 4 MB") as unknown },
  });
  const smaller = await run(succeedWithFile(4_194_304));
  expect((await getNormal(smaller)).body["code"]).not.toBe("NO_NORMAL_FORM");
});

test("results that are read slowly do not keep lists waiting, and are counted when they are there", async () => {
  const ids = [await run(succeedWithFile(1_000)), await run(succeedWithFile(1_001))];
  const { promise, resolve } = createDeferred<Readable>();
  const read = vi.spyOn(scene.instance.executions.results, "read").mockReturnValue(promise);
  const normal = ids.map(getNormal);
  await expect.poll(() => read.mock.calls.length).toBe(2);
  expect((await scene.call(scene.provider, "GET /jobs")).status).toBe(200);
  resolve(Readable.from([]));
  expect((await Promise.all(normal)).map(({ body }) => body["code"])).toEqual([
    "NO_NORMAL_FORM",
    "NO_NORMAL_FORM",
  ]);
  read.mockRestore();
});

test("normal forms take turns with the lists of their organisation", async () => {
  const id = await run(succeedWith({ counts: { "0": 10 } }));
  expect((await getNormal(id)).status).toBe(200);
  const blocker = await scene.home.database.pool.connect();
  await blocker.query("begin");
  // What lists read, and a result that is known does not.
  await blocker.query("lock table execution_input in access exclusive mode");
  const lists = Array.from({ length: 22 }, async () => await scene.call(scene.provider, "GET /jobs"));
  try {
    await expect.poll(async () => (await getNormal(id)).status).toBe(429);
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(lists.map(() => 200));
  expect((await getNormal(id)).status).toBe(200);
});
