import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostgresExecutionStore } from "./execution-store.ts";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { DAY } from "@platform/engine/base/time";
import { createUuidV7, getLowestUuid } from "@platform/engine/base/uuid";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

let close: TestStore["close"];
let home: TestStore["home"];
let database: TestStore["database"];
let store: TestStore["store"];

beforeAll(async () => {
  ({ close, home, database, store } = await createTestStore());
});

afterAll(() => close());

async function start(ownerId: string, on = store): Promise<void> {
  await on.create({
    id: createUuidV7(),
    owner: createOwner(ownerId),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
}

/** Runs so many, one after the other; says whose they were. The last goes on running. */
async function serve(turns: number): Promise<readonly string[]> {
  const begun: string[] = [];
  const request = {
    workerId: "worker",
    sandboxLevel: "B" as const,
    limit: 1,
    free: { cpu: 1, memory: 1 },
    leaseSeconds: 60,
  };
  for (let turn = 0; turn < turns; turn++) {
    for (const claim of last)
      await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
    last = (await store.claim({ ...request, excludedVersionIds: [] })).claims;
    begun.push(...last.map(({ owner }) => owner.id));
  }
  return begun;
}
let last: Awaited<ReturnType<PostgresExecutionStore["claim"]>>["claims"] = [];

/** As if the first of the queue had been created days ago. */
async function age(length: number, days: number): Promise<void> {
  const prefix = getLowestUuid(Date.now() - days * DAY).slice(0, 13);
  await home.database.query({
    text: `with aged as (select id from execution where status = 'PENDING' order by rank limit ${length}),
      inputs as (update execution_input set id = ('${prefix}' || substr(id::text, 14))::uuid where id in (select id from aged))
      update execution set id = ('${prefix}' || substr(id::text, 14))::uuid where id in (select id from aged)`,
  });
}

test("who comes new waits as short behind a backlog of days, of which only the end is from today", async () => {
  const [greedy, modest] = [randomUUID(), randomUUID()];
  await Promise.all(Array.from({ length: 200 }, () => start(greedy)));
  await age(150, 3);
  await serve(10);
  // A process that was there all the time has looked again by now, and so has one that starts.
  const gateway = createPostgresExecutionStore({ database });
  for (let index = 0; index < 5; index++) await start(modest, gateway);
  const begun = await serve(12);
  expect(begun.indexOf(modest)).toBeGreaterThanOrEqual(0);
  expect(begun.indexOf(modest)).toBeLessThan(2);
  expect(begun.filter((ownerId) => ownerId === modest)).toHaveLength(5);
  await gateway.close();
});

test("a backlog of days goes on beside those who come one after another", async () => {
  const gateway = createPostgresExecutionStore({ database });
  await age(200, 3);
  const begun: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    await start(randomUUID(), gateway);
    begun.push(...(await serve(1)));
  }
  expect(begun).toHaveLength(20);
  expect(new Set(begun).size).toBeLessThan(18);
  await gateway.close();
});

test("what a worker would claim as it is created waits behind an execution that has waited for days", async () => {
  await home.database.query({ text: "delete from execution where status = 'PENDING'" });
  await start(randomUUID());
  await age(1, 3);
  const gateway = createPostgresExecutionStore({ database });
  const free = { cpu: 1, memory: 1 };
  const idle = { workerId: "idle", sandboxLevel: "B" as const, limit: 1, free, leaseSeconds: 60 };
  const answers: unknown[] = [];
  gateway.onCreate?.((claim) => void answers.push(claim({ ...idle, excludedVersionIds: [] })));
  await start(randomUUID(), gateway);
  expect(await Promise.all(answers)).toEqual([{ claims: [], isDrained: false }]);
  await gateway.close();
});
