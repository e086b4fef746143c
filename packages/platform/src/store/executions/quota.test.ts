import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import type { Owner } from "@platform/engine/store/owner";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { checkUsage } from "../usage/check.ts";
import { rollUpUsage } from "../usage/roll-up.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const MEMBER = new URL("../../testing/quota-member.ts", import.meta.url).pathname;

const createCapped = (cap: number | null) => scene.createLimited(cap === null ? {} : { cap });
const readUsed = async (owner: Owner) => (await scene.readCounted(owner))?.used;
const start: QuotaScene["start"] = (owner, store) => scene.start(owner, store);
const countStarted: QuotaScene["countStarted"] = (...given) => scene.countStarted(...given);
const claim: QuotaScene["claim"] = (...given) => scene.claim(...given);

test("as many executions are started as the cap has, whatever is flushed together, and the rest is told when it is renewed", async () => {
  const [owner, other] = [await createCapped(25), await createCapped(3)];
  const uncapped = createOwner();
  const counts = await Promise.all([
    countStarted(owner, 60),
    countStarted(other, 20),
    countStarted(uncapped, 40),
  ]);
  expect(counts).toEqual([25, 3, 40]);
  expect([await readUsed(owner), await readUsed(other), await readUsed(uncapped)]).toEqual([
    25,
    3,
    undefined,
  ]);
  const renewal = new Date();
  renewal.setUTCMonth(renewal.getUTCMonth() + 1, 1);
  await expect(start(owner)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    status: 429,
    headers: {
      "x-quota-limit": "25",
      "x-quota-remaining": "0",
      "x-quota-reset": `${renewal.toISOString().slice(0, 10)}T00:00:00.000Z`,
      "retry-after": expect.stringMatching(/^[1-9]\d*$/),
    },
  });
});

test("several gateways together start no more than the caps, whatever each of them flushes together", async () => {
  const gateways = Array.from({ length: 4 }, () =>
    createPostgresExecutionStore({ database: createExecutionDatabase(scene.home.target, scene.home) }),
  );
  const owners = await Promise.all(Array.from({ length: 6 }, () => createCapped(17)));
  const counts = await Promise.all(
    owners.map(async (owner) => {
      const each = await Promise.all(gateways.map((gateway) => countStarted(owner, 12, gateway)));
      return each.reduce((sum, count) => sum + count, 0);
    }),
  );
  expect(counts).toEqual(owners.map(() => 17));
  expect(await Promise.all(owners.map(readUsed))).toEqual(counts);
  await Promise.all(gateways.map((gateway) => gateway.close()));
});

test("a start says what is left; without a cap there is nothing to say, but it is counted", async () => {
  const owner = await createCapped(3);
  expect((await start(owner)).quota).toMatchObject({ cap: 3, left: 2 });
  expect((await start(owner)).quota).toMatchObject({ cap: 3, left: 1 });
  const former = await createCapped(null);
  expect((await start(former)).quota).toBeUndefined();
  expect(await readUsed(former)).toBe(1);
});

test("a month that has begun has the whole cap, and what was started before it takes nothing of it back", async () => {
  const owner = await createCapped(2);
  const { id } = await start(owner);
  await start(owner);
  await scene.endMonth(owner);
  expect(await countStarted(owner, 4)).toBe(2);
  await scene.store.cancel(id, owner.id);
  expect(await readUsed(owner)).toBe(2);
});

test("a start that is repeated after its answer was lost counts once, also when it was the last of the cap", async () => {
  const owner = await createCapped(2);
  const disturbed = createPostgresExecutionStore({
    database: {
      ...scene.database,
      query: async (statement) => {
        if (statement.name === "execution-create") await scene.database.query(statement);
        return await scene.database.query(statement);
      },
    },
  });
  await start(owner, disturbed);
  await start(owner, disturbed);
  expect(await readUsed(owner)).toBe(2);
  await expect(start(owner, disturbed)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  await disturbed.close();
});

test("a start whose statement goes on in the server while it is repeated counts once", async () => {
  const owner = await createCapped(5);
  const disturbed = createPostgresExecutionStore({
    database: {
      ...scene.database,
      query: async (statement) => {
        const run = () => scene.database.query(statement);
        if (statement.name !== "execution-create") return (await run()) as never;
        const answers = await Promise.all([run(), run(), run()]);
        return (answers.find((rows) => rows.some((row) => "createdAt" in row && row.createdAt !== null)) ??
          []) as never;
      },
    },
  });
  await start(owner, disturbed);
  expect(await readUsed(owner)).toBe(1);
  await disturbed.close();
});

const ENDS: readonly (readonly [string, number, Outcome])[] = [
  ["succeeded", 1, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null }],
  ["was failed by its code", 1, { status: "FAILED", code: "EXECUTION_ERROR", detail: "no" }],
  ["ran too long", 1, { status: "FAILED", code: "TIMEOUT", detail: "no" }],
  ["was cancelled while it ran", 1, { status: "FAILED", code: "CANCELLED", detail: "no" }],
  ["could not be started by the platform", 0, { status: "FAILED", code: "NOT_STARTED", detail: "no" }],
];

test.each(ENDS)("what %s counts %i times, however often its end is written", async (_name, used, outcome) => {
  const owner = await createCapped(10);
  const { id } = await start(owner);
  const claimed = await claim(id);
  for (let tries = 0; tries < 3; tries++) expect(await scene.store.finish(claimed, outcome)).toBe(true);
  expect(await readUsed(owner)).toBe(used);
});

test("what is cancelled before it runs, or given back cancelled, or whose worker is lost, is not counted", async () => {
  const owner = await createCapped(10);
  const waiting = await start(owner);
  for (let tries = 0; tries < 2; tries++) await scene.store.cancel(waiting.id, owner.id);
  expect(await readUsed(owner)).toBe(0);
  const given = await start(owner);
  const claimed = await claim(given.id);
  await scene.store.cancel(given.id, owner.id);
  expect(await readUsed(owner)).toBe(1);
  await scene.store.giveBack(claimed, 0);
  expect(await readUsed(owner)).toBe(0);
  const lost = await start(owner);
  await claim(lost.id, 0.01);
  await expect.poll(() => scene.store.sweep().then(() => readUsed(owner))).toBe(0);
});

test("what is given back to be claimed again stays counted", async () => {
  const owner = await createCapped(10);
  const { id } = await start(owner);
  await scene.store.giveBack(await claim(id), 0);
  expect(await readUsed(owner)).toBe(1);
});

interface CountedRow {
  readonly id: string;
  /** What the subscription's row says. */
  readonly used: number;
  readonly unended: number;
  readonly cpuUsed: number;
  /** What its executions say. */
  readonly all: number;
  readonly counted: number;
  readonly open: number;
  readonly cpu: number;
}

test("nothing is lost or counted twice when processes that start and end executions are killed at any moment", async () => {
  const owners = await Promise.all([
    createCapped(1_000_000),
    scene.createLimited({ cpuSeconds: 1_000_000, concurrent: 1_000_000 }),
    createCapped(400),
  ]);
  const ids = owners.map(({ id }) => id);
  const target = JSON.stringify(scene.home.target);
  const spawnMember = () =>
    spawn(execPath, [MEMBER, target, ...ids], { stdio: ["ignore", "pipe", "inherit"] });
  for (let round = 0; round < 3; round++) {
    const members = [spawnMember(), spawnMember()];
    await Promise.all(
      members.map(async (member) => {
        const ended = once(member, "exit");
        await once(member.stdout, "data");
        member.kill("SIGKILL");
        await ended;
      }),
    );
  }
  // Statements of the dead go on in the server until they notice.
  await expect
    .poll(
      async () =>
        (
          await scene.home.database.query({
            text: `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like '%execution%'
              and pid <> pg_backend_pid()`,
          })
        ).length,
    )
    .toBe(0);
  const rows = await scene.home.database.query<CountedRow>({
    text: `select q.subscription_id as id, q.used::int, count(e.id)::int as all, q.unended, q.cpu_used::int as "cpuUsed",
        count(e.id) filter (where e.failure_code is distinct from 'NOT_STARTED')::int as counted,
        count(e.cpu_held) filter (where e.ended_at is null)::int as open,
        coalesce(sum(case when e.ended_at is null then e.cpu_held when e.failure_code = 'NOT_STARTED' then 0
          else e.cpu_micros end) filter (where e.cpu_held is not null), 0)::int as cpu
      from quota q left join execution e on e.owner_id = q.subscription_id and e.quota_month is not null
      where q.subscription_id = any ($1::uuid[]) group by q.subscription_id`,
    values: [ids],
  });
  expect(rows).toHaveLength(3);
  expect(rows.find(({ id }) => id === ids[2])?.used).toBeLessThanOrEqual(400);
  for (const { used, unended, cpuUsed, counted, open, cpu } of rows)
    expect([used, unended, cpuUsed]).toEqual([counted, open, cpu]);
  expect(rows.find(({ id }) => id === ids[1])).toMatchObject({ open: expect.toSatisfy((open) => open > 0) });
  expect(rows.reduce((sum, { all }) => sum + all, 0)).toBeGreaterThanOrEqual(600);
  expect(rows.some(({ all, counted }) => counted < all)).toBe(true);
  await rollUpUsage(scene.home.database);
  const { lines, differences } = await checkUsage(scene.home.database);
  expect([lines > 0, differences]).toEqual([true, []]);
});
