import { HOUR, SECOND } from "@platform/engine/base/time";
import type { ClaimAnswer, NewExecution, StoreEvent } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { getStartBy } from "@platform/engine/store/start-deadline";
import {
  createExecution,
  createOwner,
  emptyQueue,
  read,
  request,
} from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EXPIRE_LOCK } from "../../postgres/locks.ts";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { withClockStep } from "../../testing/test-database.ts";
import { createEvents } from "./events.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import { createExpiry } from "./expire.ts";

const LEASE_SECONDS = 30;
const KEY = "5f0c0f53-6c34-4d4e-9f0f-1f1f0c6a4b11";

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());
beforeEach(() => emptyQueue(scene.store));

async function create(more: Partial<NewExecution> = {}): Promise<NewExecution> {
  const execution = createExecution({ startWithinSeconds: 3_600, ...more });
  await scene.store.create(execution);
  return execution;
}

/** As if it had waited since long ago. */
async function passDeadlines(owner: Owner): Promise<void> {
  await scene.home.database.query({
    text: "update execution set start_by = start_by - interval '10 days' where owner_id = $1",
    values: [owner.id],
  });
}

const EXCEEDED = { status: "FAILED", failure: { code: "START_DEADLINE_EXCEEDED" } };

test("what never began counts for no cap, is no longer counted as running at one time, and is noted in usage and feed", async () => {
  const owner = await scene.createLimited({ cap: 5, concurrent: 1 });
  const { id } = await create({ owner });
  await expect(create({ owner })).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await passDeadlines(owner);
  await scene.store.expire();
  expect(await scene.readCounted(owner)).toMatchObject({ used: 0, unended: 0 });
  const usage = await scene.home.database.query({
    text: `select failed::int, uncounted::int, cpu_micros::int as "cpuMicros" from usage_entry where owner_id = $1`,
    values: [owner.id],
  });
  expect(usage).toEqual([{ failed: 1, uncounted: 1, cpuMicros: 0 }]);
  const noted = await scene.home.database.query({
    text: "select status, code from feed_new where execution_id = $1 order by status desc",
    values: [id],
  });
  expect(noted).toEqual([
    { status: "PENDING", code: null },
    { status: "FAILED", code: "START_DEADLINE_EXCEEDED" },
  ]);
  await create({ owner });
});

test("what waits for a place of a limit ends as well, and takes no place any more", async () => {
  const owner = createOwner();
  const execution = await create({ owner, limitKey: KEY });
  expect((await read(scene.store, execution)).live).toMatchObject({ held: "LIMIT" });
  await passDeadlines(owner);
  await scene.store.expire();
  expect(await read(scene.store, execution)).toMatchObject(EXCEEDED);
  expect(await scene.store.releaseDue()).toMatchObject({ released: 0, waitsForPlace: false });
});

test("many that are late end in several statements, each once, and other processes hear of them", async () => {
  const owner = createOwner();
  const executions = await Promise.all(Array.from({ length: 300 }, () => create({ owner })));
  await passDeadlines(owner);
  const other = createPostgresExecutionStore({
    database: createExecutionDatabase(scene.home.target, scene.home),
  });
  const heard = new Set<string>();
  let isListening = false;
  other.subscribe((event: StoreEvent) => {
    if (event.type === "reset") isListening = true;
    if (event.type === "changed") heard.add(event.id);
  });
  await expect.poll(() => isListening).toBe(true);
  expect(await scene.store.expire()).toBe(300);
  expect(await scene.store.expire()).toBe(0);
  await expect.poll(() => heard.size).toBe(300);
  expect(executions.every(({ id }) => heard.has(id))).toBe(true);
  await other.close();
});

test("an execution is claimed or ends, whoever is at it at the same time", async () => {
  const owner = createOwner();
  const executions = await Promise.all(
    Array.from({ length: 200 }, () => create({ owner, startWithinSeconds: 1 })),
  );
  const claimed = new Set<string>();
  let expired = 0;
  while (claimed.size + expired < executions.length) {
    const [ended, { claims }] = await Promise.all([
      scene.store.expire(),
      scene.store.claim(request({ limit: 2 })),
    ]);
    expired += ended;
    for (const { id } of claims) claimed.add(id);
  }
  expect(claimed.size + expired).toBe(executions.length);
  const states = await Promise.all(
    executions.map(async (execution) => [execution.id, (await read(scene.store, execution)).status]),
  );
  expect(states).toEqual(executions.map(({ id }) => [id, claimed.has(id) ? "RUNNING" : "FAILED"]));
});

test.each([
  ["without a key", undefined],
  ["with a key", { keyHash: KEY, requestHash: KEY }],
])("what is claimed as it is created, %s, has its deadline when it is given back", async (_, key) => {
  const answers: (Promise<ClaimAnswer> | null)[] = [];
  const stop = scene.store.onCreate?.((claim) => void answers.push(claim(request())));
  const execution = await create(key === undefined ? {} : { key });
  stop?.();
  const [claim] = (await answers[0])?.claims ?? [];
  if (claim === undefined) throw new Error("It was not claimed.");
  const { createdAt, startBy, status } = await read(scene.store, execution);
  expect({ startBy, status }).toEqual({ startBy: createdAt + HOUR, status: "RUNNING" });
  expect(await scene.store.giveBack(claim, 0)).toBe(true);
  await passDeadlines(execution.owner);
  expect((await scene.store.claim(request())).claims).toEqual([]);
  await scene.store.expire();
  expect(await read(scene.store, execution)).toMatchObject(EXCEEDED);
});

test("a clock of the database's host that is set ahead ends nothing for the length of a lease, and then what is late by it", async () => {
  let step = "0 s";
  const time = { now: 0 };
  const database = withClockStep(createExecutionDatabase(scene.home.target, scene.home), () => step);
  const expire = createExpiry(database, createEvents(database), {
    leaseSeconds: LEASE_SECONDS,
    now: () => time.now,
  });
  const execution = await create();
  const ended = [await expire()];
  step = "2 hours";
  for (time.now of [3, 20, 32, 34, 36].map((seconds) => seconds * SECOND)) ended.push(await expire());
  expect(ended).toEqual([0, 0, 0, 0, 0, 1]);
  expect(getStartBy(await read(scene.store, execution))).toBe(null);
  await database.close();
});

test("while another process is at a round, one does nothing", async () => {
  const { owner, ...execution } = await create();
  await passDeadlines(owner);
  await scene.home.database.transaction(async (run) => {
    await run({ text: "select pg_advisory_xact_lock($1)", values: [EXPIRE_LOCK] });
    await scene.store.expire();
    expect(await scene.store.find(execution.id, owner.id)).toMatchObject({ status: "PENDING" });
  });
  await scene.store.expire();
  expect(await scene.store.find(execution.id, owner.id)).toMatchObject(EXCEEDED);
});
