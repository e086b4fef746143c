import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { PLAN_LOCK } from "../postgres/locks.ts";
import { createTestOrganisation } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { PLAN_CHANGES_A_DAY } from "./plan-room.ts";
import { NO_TERMS } from "./plans.ts";
import { createStores } from "./stores.ts";
import type { Stores } from "./stores.ts";

let home: TestDatabase;
let stores: Stores;
/** With the plans `trial`, for one application of an organisation, and `open`, for any number, and `free`, without limits. */
let serviceKey: string;
let organisationId: string;

beforeAll(async () => {
  home = await createTestDatabase();
  stores = createStores(home.database);
  const provider = await createTestOrganisation(home.database);
  serviceKey = (await stores.services.create({ organisationId: provider, name: "demo", description: "" }))
    .key;
  await stores.services.publish(provider, serviceKey, "marketplace");
  const terms = { ...NO_TERMS, name: "Plan", included: 10, perMonth: 100 };
  await stores.plans.put(provider, serviceKey, { ...terms, id: "trial", applications: 1 });
  await stores.plans.put(provider, serviceKey, { ...terms, id: "open" });
  await stores.plans.put(provider, serviceKey, { ...NO_TERMS, name: "Free", id: "free" });
});
afterAll(() => home?.close());
beforeEach(async () => {
  organisationId = await createTestOrganisation(home.database);
});

const run = (text: string, ...values: readonly unknown[]) => home.database.query({ text, values });
const createApplication = async () =>
  (await stores.applications.create({ organisationId, name: "shop", createdBy: "somebody" })).id;
const subscribe = (applicationId: string, planId: string) =>
  stores.subscriptions.create(organisationId, applicationId, serviceKey, { planId });
const change = (id: string, planId: string) => stores.subscriptions.change(organisationId, id, { planId });

const FULL = {
  code: "QUOTA_EXCEEDED",
  message: expect.stringContaining("trial is for 1 application"),
  headers: { "retry-after": expect.stringMatching(/^[1-9]\d*$/u) },
};

test("a plan for one application of an organisation is had by one of several that subscribe at once", async () => {
  const ids = await Promise.all([1, 2, 3].map(createApplication));
  const lock = { text: "select 1 from service where key = $1 for update", values: [serviceKey] };
  const answers = await startAtOnce(home, lock, () =>
    ids.map((id) =>
      subscribe(id, "trial").then(
        () => "made",
        () => "refused",
      ),
    ),
  );
  expect(answers.toSorted()).toEqual(["made", "refused", "refused"]);
  for (const id of [await createApplication(), await createApplication()]) await subscribe(id, "open");
  organisationId = await createTestOrganisation(home.database);
  await subscribe(await createApplication(), "trial");
});

const LEAVES: readonly (readonly [string, (applicationId: string, id: string) => Promise<unknown>])[] = [
  ["changed to another plan", (_, id) => change(id, "open")],
  ["cancelled its subscription", (_, id) => stores.subscriptions.cancel(organisationId, id)],
  ["was deleted", (id) => stores.applications.delete(organisationId, id)],
];

test.each(LEAVES)(
  "the place of an application that %s is free in the next month, and not before",
  async (_, leave) => {
    const [first, second] = [await createApplication(), await createApplication()];
    const { id } = await subscribe(first, "trial");
    await leave(first, id);
    await expect(subscribe(second, "trial")).rejects.toMatchObject(FULL);
    const other = await subscribe(second, "open");
    await expect(change(other.id, "trial")).rejects.toMatchObject(FULL);
    await run(
      "update subscription_term set since = since - interval '32 days' where subscription_id = $1",
      id,
    );
    await run(
      "update subscription set cancelled_at = cancelled_at - interval '32 days', created_at = created_at - interval '40 days' where id = $1",
      id,
    );
    expect((await change(other.id, "trial"))?.plan?.id).toBe("trial");
  },
);

/** Until so many wait for a lock. */
const waitFor = (count: number) =>
  waitUntil(async () => {
    const waiting = await run(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return waiting.length === count;
  }).catch(() => undefined);

/** Begins `first`, which is refused or waits for the place in a plan, then `second`, which ends or waits for what the first one holds. */
async function overtake<T>(first: () => Promise<T>, second: () => Promise<unknown>): Promise<T | Error> {
  const { begun, next } = await home.database.transaction(async (hold) => {
    await hold({
      text: `select pg_advisory_xact_lock(${PLAN_LOCK}, hashtext($1))`,
      values: [organisationId],
    });
    const one = first().catch((error: unknown) => (error instanceof Error ? error : new Error("unknown")));
    await Promise.race([one, waitFor(1)]);
    const other = second();
    await Promise.race([other, waitFor(2)]);
    return { begun: one, next: other };
  });
  await next;
  return begun;
}

test("an application does not subscribe anew while what it has ends, whose executions would count for nothing", async () => {
  const applicationId = await createApplication();
  const { id } = await subscribe(applicationId, "trial");
  await run("update quota set unended = 1 where subscription_id = $1", id);
  const anew = overtake(
    () => subscribe(applicationId, "trial"),
    () => stores.subscriptions.cancel(organisationId, id),
  );
  expect(await anew).toMatchObject({ code: "CONFLICT" });
  await expect(subscribe(applicationId, "trial")).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a subscription that gets a plan with limits while it is cancelled stays cancelled", async () => {
  const { id } = await subscribe(await createApplication(), "free");
  await overtake(
    () => change(id, "trial"),
    () => stores.subscriptions.cancel(organisationId, id),
  );
  expect(await run("select 1 from subscription where id = $1 and cancelled_at is null", id)).toEqual([]);
});

test("an application that subscribes while it is deleted keeps no subscription, which would cost its fee for ever", async () => {
  const applicationId = await createApplication();
  await overtake(
    () => subscribe(applicationId, "trial"),
    () => stores.applications.delete(organisationId, applicationId),
  );
  expect(
    await run("select 1 from subscription where application_id = $1 and cancelled_at is null", applicationId),
  ).toEqual([]);
});

test("an application that had the plan this month can have it again", async () => {
  const { id } = await subscribe(await createApplication(), "trial");
  await change(id, "open");
  expect((await change(id, "trial"))?.plan?.id).toBe("trial");
});

test("an application subscribes to a service and changes its plan there so many times a day, however it does so", async () => {
  const applicationId = await createApplication();
  const other = await createApplication();
  let { id } = await subscribe(applicationId, "open");
  const former = id;
  await run(
    `insert into subscription_term (subscription_id, since, plan_id)
      select $1, (select min(since) from subscription_term where subscription_id = $1) - i * interval '1 millisecond', null
      from generate_series(1, $2::int) i`,
    id,
    PLAN_CHANGES_A_DAY - 3,
  );
  await change(id, "trial");
  // The same plan again is no change.
  for (let times = 0; times < 5; times++) await change(id, "trial");
  await stores.subscriptions.cancel(organisationId, id);
  ({ id } = await subscribe(applicationId, "open"));
  const REFUSED = {
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining(`${PLAN_CHANGES_A_DAY} times today`),
  };
  await expect(change(id, "trial")).rejects.toMatchObject(REFUSED);
  await stores.subscriptions.cancel(organisationId, id);
  await expect(subscribe(applicationId, "open")).rejects.toMatchObject(REFUSED);
  await subscribe(other, "open");
  // What it does at another service does not count.
  const own = await stores.services.create({ organisationId, name: "own", description: "" });
  await stores.services.publish(organisationId, own.key, "internal");
  expect((await stores.subscriptions.create(organisationId, applicationId, own.key)).serviceKey).toBe(
    own.key,
  );
  await run(
    "update subscription_term set since = since - interval '1 day' where subscription_id = $1",
    former,
  );
  await subscribe(applicationId, "open");
});
