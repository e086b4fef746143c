import { randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import type {
  ClaimAnswer,
  ClaimRequest,
  NewExecution,
  StoreEvent,
} from "@platform/engine/store/execution-store";
import { createDispatcher } from "@platform/engine/worker/dispatcher";
import { SILENT } from "@platform/engine/testing/silent-logger";
import { VERSION } from "@platform/engine/testing/version";
import { SUCCEEDED, createExecution } from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";

let home: TestStore;

beforeAll(async () => {
  home = await createTestStore();
});

afterAll(() => home.close());

const REQUEST: ClaimRequest = {
  workerId: "idle",
  sandboxLevel: "B",
  limit: 8,
  free: { cpu: 8, memory: 8 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

const ENDED = { began: Promise.resolve(true), ended: Promise.resolve(undefined), kill: () => undefined };

/** A worker that asks for whatever is created in the store; lists what it was answered (null: it was not heard). */
function createIdleWorker(store: PostgresExecutionStore, request = REQUEST) {
  const answers: (Promise<ClaimAnswer> | null)[] = [];
  const stop = store.onCreate?.((claim) => void answers.push(claim(request)));
  onTestFinished(() => stop?.());
  return answers;
}

/** The same database, with something going wrong on the way to or from it. */
function disturb(change: (run: RunStatement) => RunStatement): Database {
  return { ...home.database, query: change(home.database.query) };
}

/** Without what is said when listening begins, from which on other processes are heard: the promise. */
function hear(store: PostgresExecutionStore, listener: (event: StoreEvent) => void): Promise<void> {
  return new Promise((resolve) => {
    onTestFinished(store.subscribe((event) => (event.type === "reset" ? resolve() : listener(event))));
  });
}

const read = ({ id, owner }: NewExecution) => home.store.find(id, owner.id);

test("what finds an idle worker is created as claimed by it, in one statement that announces nothing", async () => {
  const statements: (string | undefined)[] = [];
  const store = createPostgresExecutionStore({
    database: disturb((run) => (statement) => {
      statements.push(statement.name);
      return run(statement);
    }),
  });
  const events: StoreEvent[] = [];
  void hear(store, (event) => events.push(event));
  const others: StoreEvent[] = [];
  await hear(home.store, (event) => others.push(event));
  const answers = createIdleWorker(store);
  const execution = createExecution();
  const record = await store.create(execution);
  expect(record).toMatchObject({ status: "PENDING", startedAt: null });
  const { claims, isDrained } = (await answers[0]) ?? { claims: [] };
  expect([claims, isDrained]).toEqual([[{ ...execution, attempt: 1, workerId: "idle", setbacks: 0 }], true]);
  expect(statements.filter((name) => name !== "execution-oldest")).toEqual(["execution-create-claimed"]);
  const running = { ...record, status: "RUNNING", startedAt: record.createdAt, sandboxLevel: "B" };
  expect(await read(execution)).toEqual({ ...running, live: expect.anything() });
  expect(events).toEqual([{ type: "changed", id: execution.id, record: running }]);
  expect((await home.store.claim({ ...REQUEST, workerId: "other" })).claims).toEqual([]);

  const [claim] = claims;
  if (claim === undefined) throw new Error("nothing was claimed");
  expect(await home.store.finish({ ...claim, workerId: "other" }, SUCCEEDED)).toBe(false);
  expect(await store.finish(claim, SUCCEEDED)).toBe(true);
  await expect.poll(() => others).toContainEqual({ type: "changed", id: execution.id });
  expect(others.filter(({ type }) => type === "pending")).toEqual([]);
});

test("a worker that has nothing to do begins what is created, without a claim of its own", async () => {
  const { store } = home;
  const dispatcher = createDispatcher({
    store,
    versions: { prepare: async (id) => ({ ...VERSION, id }) },
    inputs: {
      pin: async (reference) => ({ ...reference, sha256: "0".repeat(64), bytes: 2 }),
      pinPools: async () => [],
      place: async () => "gone",
    },
    runtime: {
      run: () => ({ ...ENDED, outcome: Promise.resolve(SUCCEEDED) }),
      stageInputs: () => Promise.reject(new Error("nothing is passed by reference here")),
    },
    workerId: randomUUID(),
    sandboxLevel: "B",
    capacity: { cpu: 8, memory: 8 },
    leaseSeconds: 60,
    logger: SILENT,
  });
  dispatcher.start();
  onTestFinished(() => dispatcher.close());
  const run = async () => {
    const execution = createExecution();
    await store.create(execution);
    await expect.poll(() => read(execution)).toMatchObject({ status: "SUCCEEDED" });
    const record = await read(execution);
    return record?.startedAt === record?.createdAt;
  };
  // Not while the worker looks whether anything waits: at its start, and once a second.
  await expect.poll(run).toBe(true);
});

test("what waits already has its turn before: the new one waits as well", async () => {
  const waiting = createExecution();
  await home.store.create(waiting);
  const answers = createIdleWorker(home.store);
  const execution = createExecution();
  await home.store.create(execution);
  expect(await answers[0]).toEqual({ claims: [], isDrained: false });
  expect(await read(execution)).toMatchObject({ status: "PENDING" });
  const { claims } = await home.store.claim(REQUEST);
  expect(claims.map(({ id }) => id)).toEqual([waiting.id, execution.id]);
  await Promise.all(claims.map((claim) => home.store.finish(claim, SUCCEEDED)));
});

test.each([1, 2])(
  "%i claimed as they are created stand behind what runs, so that nobody comes before what waits later",
  async (count) => {
    const answers = createIdleWorker(home.store, { ...REQUEST, free: { cpu: 100, memory: 100 } });
    const waves = [];
    for (let wave = 0; wave < 3; wave++) {
      const executions = Array.from({ length: count }, () => createExecution());
      await Promise.all(executions.map((execution) => home.store.create(execution)));
      const [row] = await home.database.query<{ rank: number }>({
        text: "select min(rank)::int as rank from execution where id = any ($1)",
        values: [executions.map(({ id }) => id)],
      });
      waves.push(row?.rank);
    }
    expect(waves).toEqual([0, 1, 2]);
    const answered = await Promise.all(answers.map(async (answer) => (await answer)?.claims ?? []));
    const claims = answered.flat();
    expect(claims).toHaveLength(3 * count);
    await Promise.all(claims.map((claim) => home.store.finish(claim, SUCCEEDED)));
  },
);

const EXCLUDED = randomUUID();

test.each<[string, Partial<ClaimRequest>]>([
  ["has too few vCPUs", { free: { cpu: 1.9, memory: 8 } }],
  ["has too little memory", { free: { cpu: 8, memory: 1.9 } }],
  ["takes fewer", { limit: 1 }],
  ["cannot start their version", { excludedVersionIds: [EXCLUDED] }],
  ["reserves its capacity for another", { onlyId: randomUUID() }],
])("executions that are created together all wait for a worker that %s", async (_what, change) => {
  const answers = createIdleWorker(home.store, { ...REQUEST, ...change });
  const both = [createExecution({ versionId: EXCLUDED }), createExecution({ versionId: EXCLUDED })];
  await Promise.all(both.map((execution) => home.store.create(execution)));
  expect(answers).toEqual([null]);
  for (const execution of both)
    expect(await home.store.cancel(execution.id, execution.owner.id)).toMatchObject({ status: "FAILED" });
});

test("a worker does not wait for large bodies to be stored", async () => {
  const answers = createIdleWorker(home.store);
  const execution = createExecution({ body: Buffer.alloc(100_000, " ") });
  await home.store.create(execution);
  expect(answers).toEqual([null]);
  await home.store.cancel(execution.id, execution.owner.id);
});

test("an execution that is created twice at once is claimed once", async () => {
  const answers = createIdleWorker(home.store);
  const execution = createExecution();
  await Promise.all([home.store.create(execution), home.store.create(execution)]);
  const { claims } = (await answers[0]) ?? { claims: [] };
  expect(claims.map(({ id }) => id)).toEqual([execution.id]);
  expect(await Promise.all(claims.map((claim) => home.store.finish(claim, SUCCEEDED)))).toEqual([true]);
});

test("a start that is refused makes nobody look for what it has claimed", async () => {
  const answers = createIdleWorker(home.store);
  const events: StoreEvent[] = [];
  void hear(home.store, (event) => events.push(event));
  const execution = createExecution();
  await home.home.database.query({
    text: "insert into quota (subscription_id, cap, month, used) values ($1, 1, date_trunc('month', now() at time zone 'UTC'), 1)",
    values: [execution.owner.id],
  });
  await expect(home.store.create(execution)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  expect([await answers[0], events]).toEqual([{ claims: [], isDrained: false }, []]);
});

test("what was claimed by a try whose answer was lost is handed out by the next claim, once", async () => {
  const store = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      if (statement.name === "execution-create-claimed") await run(statement);
      return run(statement);
    }),
  });
  const answers = createIdleWorker(store);
  const events: StoreEvent[] = [];
  void hear(store, (event) => events.push(event));
  const execution = createExecution();
  expect(await store.create(execution)).toMatchObject({ status: "RUNNING" });
  expect(await answers[0]).toEqual({ claims: [], isDrained: false });
  expect(events).toContainEqual({ type: "pending" });
  const { claims } = await store.claim(REQUEST);
  expect(claims.map(({ id, attempt }) => ({ id, attempt }))).toEqual([{ id: execution.id, attempt: 1 }]);
  expect((await store.claim(REQUEST)).claims).toEqual([]);
  expect(await Promise.all(claims.map((claim) => store.finish(claim, SUCCEEDED)))).toEqual([true]);
});

test("it is handed out as well if the database cannot say then whether it is there", async () => {
  const failures = [new Problem("UNAVAILABLE")];
  const store = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      if (statement.name === "execution-create-claimed") await run(statement);
      else if (statement.name !== "execution-oldest") for (const failure of failures.splice(0)) throw failure;
      return run(statement);
    }),
  });
  const answers = createIdleWorker(store);
  const execution = createExecution();
  await expect(store.create(execution)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
  expect(await answers[0]).toEqual({ claims: [], isDrained: false });
  const { claims } = await store.claim(REQUEST);
  expect(claims.map(({ id }) => id)).toEqual([execution.id]);
  expect(await Promise.all(claims.map((claim) => store.finish(claim, SUCCEEDED)))).toEqual([true]);
});

test("what is claimed by a statement that goes on in the server after its connection broke is handed out later", async () => {
  const late: (() => Promise<unknown>)[] = [];
  const store = createPostgresExecutionStore({
    database: disturb((run) => async (statement) => {
      if (statement.name !== "execution-create-claimed") return run(statement);
      late.push(() => run(statement));
      throw new FateUnknown(new Error("Connection terminated"));
    }),
  });
  const answers = createIdleWorker(store);
  const execution = createExecution();
  await expect(store.create(execution)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
  expect(await answers[0]).toEqual({ claims: [], isDrained: false });
  expect((await store.claim(REQUEST)).claims).toEqual([]);
  await Promise.all(late.map((create) => create()));
  const { claims } = await store.claim(REQUEST);
  expect(claims.map(({ id }) => id)).toEqual([execution.id]);
  expect(await Promise.all(claims.map((claim) => store.finish(claim, SUCCEEDED)))).toEqual([true]);
});
