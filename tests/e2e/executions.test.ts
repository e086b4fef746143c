import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const PROGRAM = `import time

def run(data: dict):
    print("begun")
    if data.get("slow"):
        time.sleep(600)
    return {"sum": 3}
`;

interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly code?: string;
  readonly explanation?: { readonly reason: string; readonly ahead?: number };
}

/** A limit for a machine that is much slower; a test ends with the condition. */
const WITHIN = { timeout: 60_000, interval: 100 };

let world: World;
let consumer: Consumer;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld({ flags: ["--worker-cpu", "1", "--worker-memory", "1"] });
  const project = await world.createProject("planner", PROGRAM, {
    "platform.json": JSON.stringify({
      name: "planner",
      runtime: "PYTHON_TEMPLATE",
      resources: { cpu: 1, memory: 0.5 },
    }),
  });
  ({ serviceKey } = await world.deploy(project));
  consumer = await world.subscribe(serviceKey);
});
afterAll(() => world?.close());

const run = async (...args: string[]) => world.cli(world.directory, "executions", ...args);
const runJson = async <T>(...args: string[]) => JSON.parse((await run(...args, "--json")).stdout) as T;
const startJob = async (data: unknown) =>
  (await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, { data })).body.id;

test("members see everything that runs for them, why it waits, and cancel what they no longer want", async () => {
  const outgoing = (await consumer.start({ data: {} })).body.id;
  await consumer.finish(outgoing);
  const [first, second] = [await startJob({ slow: true }), await startJob({ slow: true })];
  await vi.waitFor(
    async () => expect(await runJson("show", first)).toMatchObject({ explanation: { reason: "CLAIMED" } }),
    WITHIN,
  );
  expect(await runJson<Shown[]>("ls")).toMatchObject([
    { id: second, kind: "job", status: "PENDING" },
    { id: first, kind: "job", status: "RUNNING" },
    { id: outgoing, kind: "outgoing", status: "SUCCEEDED" },
  ]);
  const table = await run("--kind", "outgoing", "--service", "planner");
  expect(table.stdout).toMatch(/CREATED +STATE +SERVICE .*\n.* SUCCEEDED +planner@1\.0\.0 +outgoing .*\n$/u);
  const why =
    "Why      NO_CAPACITY: It is the next one. It needs 1 vCPU and 0.5 GB; the largest free worker has 0 vCPU and 0.5 GB.";
  // What is free is what the worker said last.
  await vi.waitFor(async () => expect((await run("show", second)).stdout).toContain(why), WITHIN);
  const { body: log } = await world.api<{ items: { message: string }[] }>(
    "GET",
    `/executions/${outgoing}/log?tail=1`,
  );
  expect(log.items).toMatchObject([{ message: "begun" }]);
  expect((await world.api("GET", `/executions/${outgoing}/result`)).body).toMatchObject({
    result: { sum: 3 },
  });

  const unasked = await run("cancel", "--service", "planner");
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("pass --expect 2")]);
  expect((await run("cancel", "--service", "planner", "--expect", "1")).code).toBe(1);
  expect(await runJson("cancel", "--service", "planner", "--expect", "2")).toEqual({
    matched: 2,
    cancelled: 2,
    finishedMeanwhile: 0,
  });
  await vi.waitFor(
    async () => expect(await runJson<Shown[]>("ls", "--code", "CANCELLED")).toHaveLength(2),
    WITHIN,
  );
  expect((await run("cancel", outgoing)).stdout).toBe("0 cancelled; 1 had ended before.\n");
  expect((await run("ls", "--status", "PENDING,RUNNING")).stdout).toBe(
    "No execution is as the options say.\n",
  );
  expect((await run("ls", "--status", "DONE")).code).toBe(2);
  expect((await run("show", "0198c1de-7a53-7000-8000-000000000000")).stderr).toContain("no such execution");
});
