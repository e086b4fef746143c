import { EventEmitter, once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { v7 as createUuid } from "uuid";
import { createDispatcher } from "./dispatcher.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { ExecutionRecord, ExecutionStore, NewExecution } from "./ports.ts";
import { createFixture } from "./python/testing/fixture.ts";
import type { Fixture } from "./python/testing/fixture.ts";
import type { RunnableVersion } from "./python/runtime.ts";

const OWNER = "owner";
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WITHIN = { timeout: 15_000, interval: 10 };
const REFERENCE = { dataPoolId: createUuid(), dataSourceDescriptorId: createUuid(), fileId: createUuid() };

let fixture: Fixture;
let store: ExecutionStore;
let dispatcher: Dispatcher;
let versions: Map<string, RunnableVersion>;
let files: Map<string, string>;

function createOne(
  overrides: {
    readonly capacity?: { cpu: number; memory: number };
    readonly leaseSeconds?: number;
    readonly reservesAfterSeconds?: number;
    readonly store?: ExecutionStore;
  } = {},
): Dispatcher {
  return createDispatcher({
    store: overrides.store ?? store,
    versions: {
      prepare: async (id) => {
        const version = versions.get(id);
        if (version === undefined) throw new Error(`no version ${id}`);
        return version;
      },
    },
    inputs: {
      check: async () => undefined,
      read: async ({ fileId }) => {
        const file = files.get(fileId);
        return file === undefined ? null : Buffer.from(file);
      },
    },
    runtime: fixture.runtime,
    workerId: createUuid(),
    capacity: overrides.capacity ?? { cpu: 2, memory: 4 },
    leaseSeconds: overrides.leaseSeconds ?? 30,
    reservesAfterSeconds: overrides.reservesAfterSeconds ?? 10,
    logger: SILENT,
  });
}

beforeEach(async () => {
  fixture = await createFixture();
  store = createMemoryStore();
  versions = new Map();
  files = new Map();
  dispatcher = createOne();
});

afterEach(async () => {
  await dispatcher.drain(5);
  await fixture.close();
});

async function start(
  program: string,
  change: Partial<NewExecution> & { readonly json?: unknown } = {},
): Promise<string> {
  const { json, ...rest } = change;
  const version = fixture.createVersion(program);
  versions.set(version.id, version);
  const id = createUuid();
  await store.create({
    id,
    ownerId: OWNER,
    versionId: version.id,
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 20,
    body: Buffer.from(JSON.stringify(json ?? {})),
    references: {},
    ...rest,
  });
  return id;
}

async function find(id: string): Promise<ExecutionRecord> {
  const record = await store.find(id, OWNER);
  if (record === null) throw new Error(`no execution ${id}`);
  return record;
}

async function readSpan(id: string): Promise<{ readonly start: number; readonly end: number }> {
  return JSON.parse(Buffer.from((await store.readResult(id, OWNER))?.result ?? []).toString());
}

const statusOf = async (id: string) => (await find(id)).status;

describe("dispatcher", () => {
  test("runs what is pending and stores result and log before it says SUCCEEDED", async () => {
    const id = await start(
      "def run(data):\n    print('adding')\n    return {'sum': sum(data['numbers'])}\n",
      { json: { data: { numbers: [1, 2, 3] } } },
    );
    dispatcher.start();
    await expect.poll(() => statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(Buffer.from((await store.readResult(id, OWNER))?.result ?? []).toString()).toBe('{"sum":6}');
    expect(JSON.parse(Buffer.from((await store.readLog(id, OWNER))?.lines ?? []).toString())).toMatchObject([
      { severity: "INFO", message: "adding" },
    ]);
  });

  test("puts the content of references in the place of data and params", async () => {
    files.set(REFERENCE.fileId, '{"a": 20}');
    const id = await start("def run(data, params):\n    return {'sum': data['a'] + params['b']}\n", {
      json: { dataRef: REFERENCE, params: { b: 3 } },
      references: { data: REFERENCE },
    });
    dispatcher.start();
    await expect.poll(() => statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(Buffer.from((await store.readResult(id, OWNER))?.result ?? []).toString()).toBe('{"sum":23}');
  });

  test("fails an execution whose referenced input is gone, and one whose version cannot be prepared", async () => {
    const gone = await start("def run(): ...\n", {
      json: { dataRef: REFERENCE },
      references: { data: REFERENCE },
    });
    const unknown = await start("def run(): ...\n", { versionId: "unknown" });
    dispatcher.start();
    await expect
      .poll(async () => (await find(gone)).failure?.code, WITHIN)
      .toBe("DATA_REFERENCE_UNAVAILABLE");
    await expect.poll(async () => (await find(unknown)).failure?.code, WITHIN).toBe("STARTUP_ERROR");
  });

  test("never runs more than fits, and starts the next when room is free, also with fractions of vCPUs", async () => {
    dispatcher = createOne({ capacity: { cpu: 0.3, memory: 1 } });
    const program =
      "import time\ndef run():\n    start = time.time()\n    time.sleep(0.1)\n    return {'start': start, 'end': time.time()}\n";
    const ids: string[] = [];
    for (let count = 0; count < 6; count++)
      ids.push(await start(program, { resources: { cpu: 0.1, memory: 0.1 } }));
    dispatcher.start();
    await expect
      .poll(async () => new Set(await Promise.all(ids.map(statusOf))), WITHIN)
      .toEqual(new Set(["SUCCEEDED"]));
    const spans = await Promise.all(ids.map(readSpan));
    const together = spans.map(
      ({ start: at }) => spans.filter((span) => span.start <= at && at < span.end).length,
    );
    expect(Math.max(...together)).toBe(3);
  });

  test("cancel ends a running execution as FAILED with code CANCELLED", async () => {
    const id = await start("import time\ndef run():\n    time.sleep(60)\n");
    dispatcher.start();
    await expect.poll(() => statusOf(id), WITHIN).toBe("RUNNING");
    await store.cancel(id, OWNER);
    await expect.poll(async () => (await find(id)).failure?.code, WITHIN).toBe("CANCELLED");
  });

  test("kills what runs when the lease cannot be renewed, and writes nothing over what others settled", async () => {
    const silent: ExecutionStore = {
      ...store,
      renew: async () => Promise.reject(new Error("the store does not answer")),
    };
    dispatcher = createOne({ leaseSeconds: 1, store: silent });
    const started = performance.now();
    const id = await start("import time\ndef run():\n    time.sleep(60)\n");
    dispatcher.start();
    await expect
      .poll(async () => (await store.sweep()) > 0 || (await statusOf(id)) === "UNKNOWN", WITHIN)
      .toBe(true);
    expect((await find(id)).failure?.code).toBe("WORKER_LOST");
    await dispatcher.drain(10);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await statusOf(id)).toBe("UNKNOWN");
  });

  test("an execution that needs the whole worker starts before all the smaller ones behind it have run", async () => {
    dispatcher = createOne({ reservesAfterSeconds: 0 });
    const small = "import time\ndef run():\n    time.sleep(0.4)\n";
    const startSmall = (index: number) =>
      start(small, { ownerId: OWNER, resources: { cpu: index % 2 === 0 ? 1 : 0.7, memory: 1 } });
    await startSmall(0);
    const large = await start("def run(): pass\n", { resources: { cpu: 2, memory: 1 } });
    const others: string[] = [];
    for (let index = 1; index < 16; index++) others.push(await startSmall(index));
    dispatcher.start();
    await expect.poll(() => statusOf(large), WITHIN).toBe("SUCCEEDED");
    const statuses = await Promise.all(others.map(statusOf));
    expect(statuses).toContain("PENDING");
  });

  test("drain lets what runs finish and claims no more", async () => {
    const running = await start("import time\ndef run():\n    time.sleep(0.3)\n");
    dispatcher.start();
    await expect.poll(() => statusOf(running), WITHIN).toBe("RUNNING");
    const drained = dispatcher.drain(10);
    const late = await start("def run(): ...\n");
    await drained;
    expect([await statusOf(running), await statusOf(late)]).toEqual(["SUCCEEDED", "PENDING"]);
  });

  test("drain runs what a claim under way brings, instead of leaving it to its lease", async () => {
    const gate = new EventEmitter();
    const opened = once(gate, "open");
    const claimed = new Set<string>();
    const slow: ExecutionStore = {
      ...store,
      claim: async (request) => {
        const answer = await store.claim(request);
        for (const { id } of answer.claims) claimed.add(id);
        await opened;
        return answer;
      },
    };
    dispatcher = createOne({ store: slow });
    const id = await start("def run(): ...\n");
    dispatcher.start();
    await expect.poll(() => claimed.has(id), WITHIN).toBe(true);
    const drained = dispatcher.drain(10);
    gate.emit("open");
    await drained;
    expect(await statusOf(id)).toBe("SUCCEEDED");
  });

  test("drain kills what is still running at its deadline, which then is UNKNOWN", async () => {
    const id = await start("import time\ndef run():\n    time.sleep(60)\n");
    dispatcher.start();
    await expect.poll(() => statusOf(id), WITHIN).toBe("RUNNING");
    await dispatcher.drain(0.1);
    expect(await statusOf(id)).toBe("UNKNOWN");
  });
});
