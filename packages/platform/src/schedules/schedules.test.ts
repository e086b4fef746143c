import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { readWait } from "../store/schedules/runs.ts";
import { YEARLY, createSchedulingProcess } from "../testing/schedule-scene.ts";
import type { SchedulingProcess } from "../testing/schedule-scene.ts";
import { withClockStep } from "../testing/test-database.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";

const MEMBER = new URL("../testing/schedule-member.ts", import.meta.url).pathname;

let scene: TestStore;
let instance: TestInstance;
let call: CallApi;
let here: SchedulingProcess;
let other: SchedulingProcess;
let user: TestUser;
let service: TestService;
let client: TestClient;

beforeAll(async () => {
  scene = await createTestStore();
  instance = await createTestInstance({ database: scene.home.connect(), executionStore: scene.store });
  call = createApiCaller(instance);
  here = createSchedulingProcess(scene.home.database, instance.executions);
  other = createSchedulingProcess(scene.home.connect(), instance.executions);
});
afterAll(async () => {
  await instance?.close();
  await scene?.close();
});
beforeEach(async () => {
  await run("delete from schedule");
  user = await createTestUser(instance);
  service = await createTestService(instance, user);
  client = await createTestClient(instance, user, service);
});

const run = <Row extends object = Record<string, unknown>>(text: string, ...values: readonly unknown[]) =>
  scene.home.database.query<Row>({ text, values });

const REFUSED = { status: "REFUSED", code: "NOT_SUBSCRIBED", detail: "No.", isPermanent: true } as const;

let count = 0;
async function create(given: object = {}): Promise<string> {
  const target = { serviceKey: service.serviceKey };
  const body = { name: `s${count++}`, cron: YEARLY, target, ...given };
  const made = await call(user, "POST /schedules", body);
  expect(made).toMatchObject({ status: 201 });
  return String(made.body["id"]);
}

const makeDue = (id: string, ago = "0 s") =>
  run(
    "update schedule set next_at = now() - $2::interval, planned_at = now() - interval '2 days' where id = $1",
    id,
    ago,
  );
const expireLeases = () => run("update schedule_run set lease_until = now() where status = 'STARTING'");
const show = async (id: string) => (await call(user, `GET /schedules/${id}`)).body;
/** The next time of a schedule that is due each year. */
const nextYear = () => `${new Date().getUTCFullYear() + 1}-01-01 00:00:00`;

interface Run {
  readonly status: string;
  readonly executionId: string | null;
  readonly code: string | null;
  readonly detail: string | null;
  readonly dueAt: string;
}

/** The newest first. */
async function listRuns(id: string): Promise<readonly Run[]> {
  return (await call(user, `GET /schedules/${id}/runs?limit=100`)).body["items"] as readonly Run[];
}
const listStatuses = async (id: string) => (await listRuns(id)).map(({ status }) => status);
const listExecutions = (ownerId: string) =>
  run<{ id: string; status: string }>("select id, status from execution where owner_id = $1", ownerId);
const endExecutions = () =>
  run(
    "update execution set status = 'FAILED', failure_code = 'CANCELLED', ended_at = now() where status = 'PENDING'",
  );

test("what is due starts a job of the service with the body, and is due again as its times say", async () => {
  const id = await create({ body: { data: { n: 3 } } });
  await here.round();
  expect(await listRuns(id)).toEqual([]);
  await makeDue(id);
  await here.round();
  const [made, ...more] = await listRuns(id);
  expect(more).toEqual([]);
  expect(made).toMatchObject({ status: "STARTED", trigger: "CRON", code: null, detail: null });
  expect(await listExecutions(user.organisationId)).toEqual([{ id: made?.executionId, status: "PENDING" }]);
  const [input] = await run<{ body: Buffer }>(
    "select body from execution_input where id = $1",
    made?.executionId,
  );
  expect(JSON.parse(String(input?.body))).toEqual({ data: { n: 3 } });
  expect(await show(id)).toMatchObject({ enabled: true, nextAt: nextYear(), lastRun: made });
});

test("where nothing will be due nothing is waited for, otherwise until the first of what will", async () => {
  const { database } = scene.home;
  expect(await readWait(database)).toBeNull();
  const id = await create();
  expect(await readWait(database)).toBeGreaterThan(0);
  await makeDue(id, "1 minute");
  expect(await readWait(database)).toBe(0);
});

test("an occurrence for a subscription is an execution of its application", async () => {
  const id = await create({ target: { subscriptionId: client.subscriptionId } });
  await makeDue(id);
  await here.round();
  expect(await listStatuses(id)).toEqual(["STARTED"]);
  expect(await listExecutions(client.subscriptionId)).toHaveLength(1);
  expect(await listExecutions(user.organisationId)).toEqual([]);
});

test("of several processes that look at the same moment, one starts each occurrence", async () => {
  for (let i = 0; i < 12; i++) await makeDue(await create({ overlap: "queue" }));
  await Promise.all([here, other, here, other].map(({ round }) => round()));
  expect(await listExecutions(user.organisationId)).toHaveLength(12);
  await expireLeases();
  await Promise.all([here.round(), other.round()]);
  expect(await listExecutions(user.organisationId)).toHaveLength(12);
  expect(await run("select 1 from schedule_run where status = 'STARTED'")).toHaveLength(12);
});

test.each(["plan", "claim", "start"])(
  "an occurrence is started once when its process is killed after the step: %s",
  async (step) => {
    const id = await create();
    await makeDue(id);
    const member = spawn(execPath, [MEMBER, JSON.stringify(scene.home.target), step], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [, signal] = (await once(member, "exit")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    expect(await listStatuses(id)).toEqual(["STARTING"]);
    const before = await listExecutions(user.organisationId);
    expect(before).toHaveLength(step === "start" ? 1 : 0);
    await here.round();
    // Until its lease is over nobody else touches what it has claimed.
    expect(await listStatuses(id)).toEqual([step === "plan" ? "STARTED" : "STARTING"]);
    await expireLeases();
    await here.round();
    const [made] = await listRuns(id);
    expect(made?.status).toBe("STARTED");
    const after = await listExecutions(user.organisationId);
    expect(after.map((one) => one.id)).toEqual([made?.executionId]);
  },
);

test("a process that wakes up after its lease makes no second execution, and its start stands in the list", async () => {
  const id = await create();
  await makeDue(id);
  await here.plan();
  const [stale] = await here.claim();
  await expireLeases();
  const [second] = await other.claim();
  if (stale === undefined || second === undefined) throw new Error("There was nothing to claim.");
  expect(second).toMatchObject({ id: stale.id, attempt: 2, executionId: stale.executionId });
  await here.stores.scheduleRuns.settleRefused(stale, REFUSED);
  expect(await listStatuses(id)).toEqual(["STARTING"]);
  await other.start(second);
  await here.start(stale);
  expect(await listExecutions(user.organisationId)).toHaveLength(1);
  await here.stores.scheduleRuns.settleRefused(second, REFUSED);
  expect(await listStatuses(id)).toEqual(["STARTED"]);
});

test("an earlier try that has started counts, although a start would be refused by now", async () => {
  const id = await create({ target: { subscriptionId: client.subscriptionId } });
  await makeDue(id);
  await here.plan();
  const [claim] = await here.claim();
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await here.starter.start(claim);
  await call(user, `PUT /subscriptions/${client.subscriptionId}`, { status: "PAUSED" });
  await expireLeases();
  await here.round();
  expect(await listRuns(id)).toMatchObject([{ status: "STARTED", executionId: claim.executionId }]);
});

test("skip: while the execution that was started last has not ended, nothing is started", async () => {
  const id = await create({ overlap: "skip" });
  await makeDue(id);
  await here.round();
  await makeDue(id);
  await here.round();
  expect(await listStatuses(id)).toEqual(["SKIPPED", "STARTED"]);
  await endExecutions();
  await makeDue(id);
  await here.round();
  expect(await listStatuses(id)).toEqual(["STARTED", "SKIPPED", "STARTED"]);
});

test("skip: an occurrence that is still being started counts as not ended", async () => {
  const id = await create({ overlap: "skip" });
  await makeDue(id);
  await here.plan();
  await makeDue(id);
  await here.plan();
  expect(await listStatuses(id)).toEqual(["SKIPPED", "STARTING"]);
});

test("queue: another one is started", async () => {
  const id = await create({ overlap: "queue" });
  for (const _ of [1, 2]) {
    await makeDue(id);
    await here.round();
  }
  expect(await listStatuses(id)).toEqual(["STARTED", "STARTED"]);
});

test("the last hundred runs are kept, and what was started before them still counts as not ended", async () => {
  const id = await create({ overlap: "skip" });
  await makeDue(id);
  await here.round();
  for (let i = 0; i < 101; i++) {
    await makeDue(id);
    await here.plan();
  }
  const statuses = await listStatuses(id);
  expect(statuses).toHaveLength(100);
  expect(new Set(statuses)).toEqual(new Set(["SKIPPED"]));
  expect(await run("select 1 from schedule_run where schedule_id = $1", id)).toHaveLength(100);
});

test("after a day without the platform the last occurrence is started, and the others are noted as missed", async () => {
  const id = await create({ cron: "0 * * * *" });
  await run(
    "update schedule set next_at = date_trunc('hour', now()) - interval '24 hours' where id = $1",
    id,
  );
  await here.round();
  const runs = await listRuns(id);
  expect(runs.map(({ status }) => status)).toEqual(["STARTED", "MISSED"]);
  expect(runs[1]?.detail).toContain("The last one missed was due at");
  expect(await listExecutions(user.organisationId)).toHaveLength(1);
  expect(Date.parse(`${String((await show(id))["nextAt"])}Z`)).toBeGreaterThan(Date.now());
});

test("what is due for longer than an hour is not started", async () => {
  // Half a year away: an occurrence of its own within the hour would be started.
  const cron = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;
  const id = await create({ cron });
  await makeDue(id, "61 minutes");
  await here.plan();
  expect(await listStatuses(id)).toEqual(["MISSED"]);
  const late = await create({ cron });
  await makeDue(late, "59 minutes");
  await here.plan();
  await run("update schedule_run set due_at = due_at - interval '2 minutes' where status = 'STARTING'");
  await here.round();
  expect(await listStatuses(late)).toEqual(["MISSED"]);
  expect(await listExecutions(user.organisationId)).toEqual([]);
});

test("when the clock of the database is set ahead, at most one occurrence is started; set back, it begins anew and repeats none", async () => {
  let step = "0 s";
  const stepped = createSchedulingProcess(
    withClockStep(scene.home.connect(), () => step),
    instance.executions,
  );
  const id = await create({ cron: "0 * * * *", overlap: "queue" });
  await stepped.round();
  expect(await listRuns(id)).toEqual([]);
  step = "3 days";
  await stepped.round();
  expect(await listStatuses(id)).toEqual(["STARTED", "MISSED"]);
  step = "0 s";
  await stepped.round();
  expect(await listStatuses(id)).toEqual(["STARTED", "MISSED"]);
  const next = Date.parse(`${String((await show(id))["nextAt"])}Z`);
  expect(next - Date.now()).toBeLessThanOrEqual(3_600_000);
  // The same occurrence again, in three days.
  await run(
    "update schedule set next_at = (select due_at from schedule_run where status = 'STARTED' and schedule_id = $1) where id = $1",
    id,
  );
  step = "3 days";
  await stepped.round();
  expect(await listStatuses(id)).toEqual(["STARTED", "MISSED"]);
});

test("when the clock is set back by less than an hour, the next occurrence waits for it", async () => {
  const id = await create({ cron: "*/5 * * * *" });
  await run(
    "update schedule set next_at = now() + interval '40 minutes', planned_at = now() + interval '30 minutes' where id = $1",
    id,
  );
  const before = (await show(id))["nextAt"];
  await here.round();
  expect((await show(id))["nextAt"]).toBe(before);
});

test("a refusal is noted with its code, and the schedule goes on; after five in a row it is paused, and says why", async () => {
  const id = await create({ target: { subscriptionId: client.subscriptionId } });
  await call(user, `DELETE /subscriptions/${client.subscriptionId}`);
  for (let i = 0; i < 4; i++) {
    await makeDue(id);
    await here.round();
  }
  expect(await show(id)).toMatchObject({ enabled: true, pause: null });
  await makeDue(id);
  await here.round();
  expect(await listRuns(id)).toMatchObject(
    Array.from({ length: 5 }, () => ({ status: "REFUSED", code: "NOT_FOUND", executionId: null })),
  );
  expect(await show(id)).toMatchObject({
    enabled: false,
    nextAt: null,
    nextTimes: [],
    pause: { code: "NOT_FOUND", detail: "The subscription has ended, or there is no such subscription." },
  });
  const resumed = await call(user, `PUT /schedules/${id}`, {
    enabled: true,
    target: { serviceKey: service.serviceKey },
  });
  expect(resumed.body).toMatchObject({ enabled: true, pause: null, nextAt: nextYear() });
  await makeDue(id);
  await here.round();
  expect((await listStatuses(id))[0]).toBe("STARTED");
});

test("a start between refusals has them counted from the beginning", async () => {
  const id = await create({ target: { subscriptionId: client.subscriptionId }, overlap: "queue" });
  for (const status of ["PAUSED", "ACTIVE", "PAUSED"]) {
    await call(user, `PUT /subscriptions/${client.subscriptionId}`, { status });
    for (let i = 0; i < 3; i++) {
      await makeDue(id);
      await here.round();
    }
  }
  expect((await listStatuses(id)).filter((status) => status === "REFUSED")).toHaveLength(6);
  expect(await show(id)).toMatchObject({ enabled: true });
});

test("limits that pass by themselves never pause a schedule", async () => {
  const slow = createSchedulingProcess(scene.home.connect(), instance.executions, 0.01);
  const id = await create({ overlap: "queue" });
  for (let i = 0; i < 8; i++) {
    await makeDue(id);
    await slow.round();
  }
  const runs = await listRuns(id);
  expect(runs.map(({ code }) => code)).toEqual([...Array.from({ length: 7 }, () => "RATE_LIMITED"), null]);
  expect(await show(id)).toMatchObject({ enabled: true });
});

test("a body that the version of then refuses is noted with what is wrong", async () => {
  const id = await create({ body: { data: { n: "three" } } });
  await makeDue(id);
  await here.round();
  expect(await listRuns(id)).toMatchObject([{ status: "REFUSED", code: "INVALID_INPUT" }]);
});

test("a schedule whose times cannot be read any more is paused, and keeps no other from being due", async () => {
  const broken = await create();
  await run("update schedule set time_zone = 'Gone/Zone' where id = $1", broken);
  const whole = await create();
  await makeDue(broken);
  await makeDue(whole);
  await here.round();
  expect(await listStatuses(whole)).toEqual(["STARTED"]);
  expect(await show(broken)).toMatchObject({ enabled: false, pause: { code: "INVALID_INPUT" } });
});

test("while the store is away, an occurrence waits for it", async () => {
  const id = await create();
  await makeDue(id);
  const down = createSchedulingProcess(scene.home.connect(), {
    ...instance.executions,
    start: async () => {
      throw new Error("away");
    },
  });
  await down.plan();
  const [claim] = await down.claim();
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await expect(down.start(claim)).rejects.toThrow("away");
  expect(await listStatuses(id)).toEqual(["STARTING"]);
  await expireLeases();
  await here.round();
  expect(await listStatuses(id)).toEqual(["STARTED"]);
});
