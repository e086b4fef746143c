import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  FAILED,
  SUCCEEDED,
  VANISHED,
  createExecution,
  createOwner,
} from "@platform/engine/testing/execution-fixtures";
import type { Claim } from "@platform/engine/store/execution-store";
import { createTestService, createTestUser } from "../../testing/fixtures.ts";
import { createTestInstance } from "../../testing/instance.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createFigureStore } from "./figures.ts";
import type { FigureStore } from "./figures.ts";
import { addLengths, findLength } from "./lengths.ts";
import { rollUpSeries } from "./series.ts";
import { createFeedStore } from "../feed/feed.ts";

let scene: TestStore;
let figures: FigureStore;
let versionId: string;

beforeAll(async () => {
  scene = await createTestStore();
  figures = createFigureStore(scene.home.database);
  const instance = await createTestInstance({ database: scene.home.database });
  try {
    ({ versionId } = await createTestService(instance, await createTestUser(instance)));
  } finally {
    await instance.close();
  }
});
afterAll(() => scene.close());
beforeEach(async () => {
  await rollUp();
  await run("delete from instance_minute");
  await run("delete from execution");
});

const run = (text: string, ...values: readonly unknown[]) => scene.home.database.query({ text, values });

async function rollUp(): Promise<void> {
  await createFeedStore(scene.home.database).sequence();
  await rollUpSeries(scene.home.database);
}

async function claim(limit: number): Promise<readonly Claim[]> {
  const request = { workerId: "one", sandboxLevel: "B", leaseSeconds: 60, excludedVersionIds: [] } as const;
  return (await scene.store.claim({ ...request, limit, free: { cpu: 100, memory: 100 } })).claims;
}

async function create(count: number): Promise<void> {
  for (let made = 0; made < count; made++) await scene.store.create(createExecution({ versionId }));
}

/** The steps of this hour, added up to one. */
async function readHour() {
  const now = Math.floor(Date.now() / 1_000);
  const step = 86_400;
  const from = Math.floor(now / step - 1) * step;
  const steps = await figures.readSeries({ from, to: from + 3 * step, step });
  return steps.at(-1);
}

test("what waits, runs, starts and ends is in the minute, each once, however often it is rolled up", async () => {
  await create(5);
  const [first, second] = await claim(3);
  for (const one of [first, second]) if (one !== undefined) await scene.store.finish(one, SUCCEEDED);
  await Promise.all([rollUp(), rollUp(), rollUp()]);
  await rollUp();
  expect(await readHour()).toMatchObject({ pending: 2, running: 1, started: 3, finished: 2 });
});

test("how long executions waited and ran is at most a tenth off", async () => {
  await create(20);
  const claims = await claim(20);
  await run("update execution set created_at = started_at - interval '8 seconds', started_at = started_at");
  for (const one of claims) await scene.store.finish(one, SUCCEEDED);
  await run("update execution set started_at = ended_at - interval '30 minutes'");
  await run(
    `update execution set started_at = ended_at - interval '5 seconds' where id in (select id from execution order by id limit 18)`,
  );
  await rollUp();
  const hour = await readHour();
  expect(hour?.waitP50).toBeGreaterThan(7_200);
  expect(hour?.waitP50).toBeLessThan(8_800);
  expect(hour?.ranP95).toBeGreaterThan(1_620_000);
  expect(hour?.ranP95).toBeLessThan(1_980_000);
});

test("minutes that another process is writing are left to it, and nothing is lost", async () => {
  await create(2);
  await claim(2);
  await createFeedStore(scene.home.database).sequence();
  await scene.home.database.transaction(async (hold) => {
    await hold({ text: "select 1 from instance_mark for update" });
    await rollUpSeries(scene.home.connect());
    expect(await readHour()).toMatchObject({ started: 0 });
  });
  await rollUp();
  expect(await readHour()).toMatchObject({ started: 2 });
});

test("an execution that was removed before is counted, without its times", async () => {
  await create(1);
  await claim(1);
  await run("delete from execution");
  await rollUp();
  expect(await readHour()).toMatchObject({ started: 1, waitP50: null });
});

test("ends of executions of other organisations are in the day of the service, but for what never ran, was cancelled or failed by the platform", async () => {
  await run("delete from service_day");
  const [{ own } = { own: "" }] = await scene.home.database.query<{ own: string }>({
    text: "select s.organisation_id as own from version v join service s on s.key = v.service_key where v.id = $1",
    values: [versionId],
  });
  const owner = createOwner();
  const owners = [
    ...Array.from({ length: 6 }, () => owner),
    { ...createOwner(), organisationId: own },
    { kind: "organisation", id: own, organisationId: own } as const,
  ];
  const made = owners.map((one) => createExecution({ versionId, owner: one }));
  for (const one of made) await scene.store.create(one);
  await scene.store.cancel(made[0]?.id ?? "", owner.id);
  const outcomes = [
    SUCCEEDED,
    SUCCEEDED,
    FAILED,
    VANISHED,
    { status: "FAILED", code: "CANCELLED", detail: "no" } as const,
  ];
  const claims = await claim(8);
  expect(claims).toHaveLength(7);
  for (const one of claims)
    await scene.store.finish(one, (one.owner.id === owner.id ? outcomes.shift() : undefined) ?? SUCCEEDED);
  await Promise.all([rollUp(), rollUp()]);
  const [day] = await run(
    "select succeeded, failed, (select sum(value::int)::int from jsonb_each_text(runs)) as runs from service_day",
  );
  expect(day).toEqual({ succeeded: 2, failed: 1, runs: 2 });
  expect(await run("select 1 from service_day")).toHaveLength(1);
});

test("minutes are kept for eight days", async () => {
  await run(
    "insert into instance_minute (minute) values (now() - interval '9 days'), (now() - interval '7 days')",
  );
  await rollUp();
  expect(await run("select 1 from instance_minute where minute < now() - interval '1 day'")).toHaveLength(1);
});

test("days of services that are kept no longer are removed by their day, however many days there are", async () => {
  await run("delete from service_day");
  await run(
    "insert into service_day select gen_random_uuid(), ((now() at time zone 'UTC')::date - d), 1, 0, '{}' from generate_series(1, 500), generate_series(0, 41) d",
  );
  await run("analyze service_day");
  const texts: string[] = [];
  const { database } = scene.home;
  await rollUpSeries({
    query: (statement) => {
      texts.push(statement.text);
      return database.query(statement);
    },
  });
  expect(await run("select 1 from service_day")).toHaveLength(500 * 41);
  const removal = texts.find((text) => text.startsWith("delete from service_day"));
  expect(JSON.stringify(await run(`explain ${removal}`))).toContain("service_day_day");
  await run("delete from service_day");
});

test("lengths are found among classes", () => {
  expect(findLength(addLengths([]), 0.5)).toBeNull();
  expect(findLength(addLengths([{ "0": 9 }]), 0.95)).toBe(1);
  const sums = addLengths([{ "4": 1, "40": 1 }, { "40": 8 }]);
  expect(findLength(sums, 0.1)).toBe(2);
  expect(findLength(sums, 0.5)).toBe(1_117);
});

test("what is stored is told by kind", async () => {
  const kinds = await figures.measureStorage();
  expect(kinds.map(({ kind }) => kind)).toEqual([
    "archives",
    "pool-files",
    "results",
    "uploads",
    "objects",
    "database-executions",
    "database-feed",
    "database-audit",
    "database-usage",
    "database-other",
  ]);
  const [{ total } = { total: 0 }] = await scene.home.database.query<{ total: number }>({
    text: "select sum(pg_total_relation_size(oid))::float8 as total from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  });
  const sum = kinds
    .filter(({ kind }) => kind.startsWith("database-"))
    .reduce((bytes, kind) => bytes + kind.bytes, 0);
  expect(sum / total).toBeGreaterThan(0.95);
  expect(sum / total).toBeLessThan(1.05);
});
