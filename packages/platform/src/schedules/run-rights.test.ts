import { waitUntil } from "@platform/engine/testing/wait-until";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunClaim } from "../store/schedules/runs.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestMember, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { YEARLY, createSchedulingProcess } from "../testing/schedule-scene.ts";
import type { SchedulingProcess } from "../testing/schedule-scene.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";

let scene: TestStore;
let instance: TestInstance;
let call: CallApi;
let here: SchedulingProcess;
let user: TestUser;
let service: TestService;

beforeAll(async () => {
  scene = await createTestStore();
  instance = await createTestInstance({ database: scene.home.connect(), executionStore: scene.store });
  call = createApiCaller(instance);
  here = createSchedulingProcess(scene.home.database, instance.executions);
});
afterAll(async () => {
  await instance?.close();
  await scene?.close();
});
beforeEach(async () => {
  await run("delete from schedule");
  user = await createTestUser(instance);
  service = await createTestService(instance, user);
});

const run = <Row extends object = Record<string, unknown>>(text: string, ...values: readonly unknown[]) =>
  scene.home.database.query<Row>({ text, values });

async function create(given: object = {}): Promise<string> {
  const target = { serviceKey: service.serviceKey };
  const made = await call(user, "POST /schedules", { name: "yearly", cron: YEARLY, target, ...given });
  expect(made).toMatchObject({ status: 201 });
  return String(made.body["id"]);
}

const makeDue = (id: string) => run("update schedule set next_at = now() where id = $1", id);

/** The newest first. */
async function listRuns(id: string): Promise<readonly { readonly status: string }[]> {
  return (await call(user, `GET /schedules/${id}/runs?limit=100`)).body["items"] as readonly {
    readonly status: string;
  }[];
}
const listStatuses = async (id: string) => (await listRuns(id)).map(({ status }) => status);

const WAITING =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
const REFUSED = { status: "REFUSED", code: "NOT_SUBSCRIBED", detail: "No.", isPermanent: true } as const;

test("who is no member any more lends no rights to the jobs of their schedules", async () => {
  const pool = await call(user, "POST /data-pools", { name: "results" });
  const persistTo = { dataPoolId: pool.body["id"] };
  const id = await create({ body: { persistTo }, overlap: "queue" });
  await makeDue(id);
  await here.round();
  expect(await listStatuses(id)).toEqual(["STARTED"]);
  await run("update member set role = 'viewer' where user_id = $1", user.userId);
  await makeDue(id);
  await here.round();
  expect(await listRuns(id)).toMatchObject([{ status: "REFUSED", code: "DATA_REFERENCE_INVALID" }, {}]);
});

test("a run that is asked for has the rights of who asks for it, not those of who has changed the schedule", async () => {
  const pool = await call(user, "POST /data-pools", { name: "results" });
  const id = await create({ body: { persistTo: { dataPoolId: pool.body["id"] } }, enabled: false });
  const made = await call(user, "POST /personal-access-tokens", { name: "run", scopes: ["run"] });
  const runner = { ...user, token: String(made.body["token"]) };
  const persisting = await call(runner, `POST /jobs?serviceKey=${service.serviceKey}`, {
    persistTo: { dataPoolId: pool.body["id"] },
  });
  const refused = await call(runner, `POST /schedules/${id}/run`);
  expect(refused).toMatchObject({ status: 422, body: { code: "DATA_REFERENCE_INVALID" } });
  expect(refused).toEqual(persisting);
  expect(await run("select 1 from execution where owner_id = $1", user.organisationId)).toEqual([]);
  // Also when the process that was asked ends before it has started it, and another one does.
  const { scheduleRuns } = here.stores;
  const key = { organisationId: user.organisationId, id };
  await scheduleRuns.addManual(key, { userId: user.userId, mayEdit: false }, 0);
  await here.round();
  expect((await listStatuses(id))[0]).toBe("REFUSED");
  expect((await call(user, `POST /schedules/${id}/run`)).body["status"]).toBe("STARTED");
  const member = await createTestMember(instance, user.organisationId, "maintainer");
  const asker = { userId: member.userId, mayEdit: true };
  expect(await scheduleRuns.addManual(key, asker, 60)).toMatchObject(asker);
});

test.each([
  [
    "started",
    (process: SchedulingProcess, claim: RunClaim) => process.stores.scheduleRuns.settleStarted(claim),
  ],
  [
    "refused",
    (process: SchedulingProcess, claim: RunClaim) =>
      process.stores.scheduleRuns.settleRefused(claim, REFUSED),
  ],
] as const)(
  "writing that a run was %s and deleting its schedule wait for each other in one order",
  async (_end, settle) => {
    const id = await create();
    await makeDue(id);
    await here.plan();
    const [claim] = await here.claim();
    if (claim === undefined) throw new Error("There was nothing to claim.");
    // A deadlock is an error here, and not tried again.
    const hasty = createSchedulingProcess(scene.home.connect({ retryMilliseconds: 0 }), instance.executions);
    const client = await scene.home.database.pool.connect();
    try {
      await client.query("begin");
      await client.query("select id from schedule where id = $1 for update", [id]);
      const settling = settle(hasty, claim);
      await waitUntil(async () => (await run(WAITING)).length > 0);
      await client.query("delete from schedule where id = $1", [id]);
      await client.query("commit");
      await settling;
    } finally {
      client.release();
    }
    expect(await run("select 1 from schedule_run where schedule_id = $1", id)).toEqual([]);
  },
);
