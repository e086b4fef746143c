import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { InstanceSeries, InstanceStorage } from "@platform/contract/platform-api/operator-figures";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestOperator, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let operator: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
  operator = await createTestOperator(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  await run("delete from instance_minute");
});

const run = (text: string, ...values: readonly unknown[]) => home.database.query({ text, values });

async function readSeries(query: string) {
  const answer = await call(operator, `GET /operator/series?${query}`);
  expect(answer.status).toBe(200);
  const body = answer.body as unknown as InstanceSeries;
  return { ...body, points: Object.fromEntries(body.series.map(({ name, points }) => [name, points])) };
}

const NINE = Date.parse("2026-11-20T09:00:00Z") / 1_000;

test("series have a point for each step of which something is known, and are added up over longer steps", async () => {
  await run(
    `insert into instance_minute (minute, pending, running, started, finished, waits, runs) values
      ('2026-11-20 09:00Z', 4, 1, 10, 8, '{"40": 10}', '{"0": 8}'),
      ('2026-11-20 09:01Z', 2, 3, 30, 2, '{"40": 5, "60": 25}', '{}'),
      ('2026-11-20 09:07Z', null, null, 1, 0, '{}', '{}'),
      ('2026-11-20 10:00Z', 1, 1, 1, 1, '{}', '{}')`,
  );
  const period = "from=2026-11-20%2009:00:00&to=2026-11-20%2010:00:00";
  const minutes = await readSeries(period);
  expect(minutes).toMatchObject({ step: 60, from: "2026-11-20 09:00:00", to: "2026-11-20 10:00:00" });
  expect(minutes.points["started"]).toEqual([
    [NINE, 10],
    [NINE + 60, 30],
    [NINE + 420, 1],
  ]);
  expect(minutes.points["pending"]?.at(-1)).toEqual([NINE + 420, null]);
  const five = await readSeries(`${period}&step=300`);
  expect(five.points["started"]).toEqual([
    [NINE, 40],
    [NINE + 300, 1],
  ]);
  expect(five.points["pending"]?.[0]).toEqual([NINE, 3]);
  expect(five.points["finished"]?.[0]).toEqual([NINE, 10]);
  expect(five.points["waitP50"]?.[0]).toEqual([NINE, Math.round(2 ** (60.5 / 4))]);
  expect(five.points["ranP95"]?.[0]).toEqual([NINE, 1]);
});

test("the last hour is shown unless told otherwise", async () => {
  await run(
    "insert into instance_minute (minute, started) values (date_trunc('minute', now()) - interval '1 minute', 7), (now() - interval '2 hours', 5)",
  );
  expect((await readSeries("")).points["started"]).toEqual([[expect.any(Number), 7]]);
});

test.each([
  "from=2026-11-20%2010:00:00&to=2026-11-20%2010:00:00",
  "from=2026-11-20%2010:00:00&to=2026-11-22%2010:00:00",
  "from=2026-11-20%2010:00:00&to=2026-11-20%2009:00:00",
  "step=61",
  "from=yesterday",
])("a period that cannot be shown is refused: %s", async (query) => {
  const answer = await call(operator, `GET /operator/series?${query}`);
  expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
});

test("storage is told by kind, with for how long it is kept", async () => {
  const user = await createTestUser(here);
  const made = await call(user, "POST /data-pools", { name: "Data" });
  const stored = await here.api.inject({
    method: "PUT",
    url: `/api/data-pools/${String(made.body["id"])}/files/a.json`,
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    payload: "{}",
  });
  expect(stored.statusCode).toBe(201);
  const { kinds } = (await call(operator, "GET /operator/storage")).body as unknown as InstanceStorage;
  expect(kinds.find(({ kind }) => kind === "pool-files")).toMatchObject({ count: 1, bytes: 2 });
  expect(kinds.find(({ kind }) => kind === "results")?.retention).toContain("30 days");
  for (const { retention } of kinds) expect(retention).toMatch(/\.$/u);
});
