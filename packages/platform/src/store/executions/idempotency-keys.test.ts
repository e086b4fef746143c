import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { NewExecution } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { createExecution, createOwner, emptyQueue } from "@platform/engine/testing/execution-fixtures";
import { createKey } from "@platform/engine/testing/idempotency-conformance";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { removeOldKeys } from "./idempotency-keys.ts";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const MEMBER = new URL("../../testing/idempotent-member.ts", import.meta.url).pathname;

/** Another gateway, with connections of its own. */
function createGateway(): PostgresExecutionStore {
  const database = createExecutionDatabase(scene.home.target, scene.home);
  const store = createPostgresExecutionStore({ database });
  onTestFinished(async () => {
    await store.close();
    await database.close();
  });
  return store;
}

const count = async (from: string, ...values: readonly unknown[]) =>
  (await scene.home.database.query({ text: `select 1 from ${from}`, values })).length;
const countExecutions = ({ id }: Owner) => count("execution where owner_id = $1", id);
const countKeys = ({ id }: Owner) => count("idempotency_key where owner_id = $1", id);

test("fifty starts with one key that race over two gateways are one execution, which counts once", async () => {
  const gateways = [createGateway(), createGateway()];
  for (const limits of [{}, { cap: 1 }, { concurrent: 1 }]) {
    const owner = await scene.createLimited(limits);
    const key = createKey();
    const records = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (gateways[index % 2] ?? scene.store).create(createExecution({ owner, key })),
      ),
    );
    expect(new Set(records.map(({ id }) => id)).size).toBe(1);
    expect(records.filter(({ isRepeated }) => isRepeated !== true)).toHaveLength(1);
    expect([await countExecutions(owner), await countKeys(owner)]).toEqual([1, 1]);
    expect(await scene.readCounted(owner)).toMatchObject({
      used: 1,
      unended: "concurrent" in limits ? 1 : 0,
    });
  }
});

/** Of this database, as far as the sessions that saw them have ended. */
const countDeadlocks = async () => {
  const [row] = await scene.home.database.query<{ deadlocks: number }>({
    text: "select deadlocks::int from pg_stat_database where datname = current_database()",
  });
  return row?.deadlocks;
};

test("keys that several gateways use in any order make each one execution, and no start waits for one that waits for it", async () => {
  const databases = [1, 2, 3].map(() => createExecutionDatabase(scene.home.target, scene.home));
  const gateways = databases.map((database) => createPostgresExecutionStore({ database }));
  // Without limits, whose row would let one statement of the owner run at a time.
  const owner = createOwner();
  const keys = Array.from({ length: 200 }, () => createKey());
  // So that all have connections, and begin at the same moment.
  await Promise.all(gateways.map((gateway) => gateway.create(createExecution({ owner }))));
  const starts = gateways.flatMap((gateway, index) =>
    (index % 2 === 0 ? keys : keys.toReversed()).map((key) =>
      gateway.create(createExecution({ owner, key })),
    ),
  );
  const records = await Promise.all(starts);
  expect(new Set(records.map(({ id }) => id)).size).toBe(200);
  expect(await countExecutions(owner)).toBe(203);
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await Promise.all(databases.map((database) => database.close()));
  expect(await countDeadlocks()).toBe(0);
});

/** Until so many starts with keys wait for a lock. */
const untilWaiting = (least: number) =>
  waitUntil(
    async () =>
      (await count(
        "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'key_hash'",
      )) >= least,
  );

test("the last place of a cap is not lost to a start whose key another gateway uses at the same moment", async () => {
  const [here, there] = [createGateway(), createGateway()];
  const owner = await scene.createLimited({ cap: 2 });
  const key = createKey();
  const client = await scene.home.database.pool.connect();
  onTestFinished(() => client.release());
  await client.query("begin");
  await client.query("select 1 from quota where subscription_id = $1 for no key update", [owner.id]);
  // Both statements have begun before either can see what the other commits.
  const first = there.create(createExecution({ owner, key }));
  await untilWaiting(1);
  const loser = here.create(createExecution({ owner, key }));
  const other = here.create(createExecution({ owner }));
  await untilWaiting(2);
  await client.query("commit");
  const [a, b, c] = await Promise.all([first, loser, other]);
  expect([b.id, b.isRepeated]).toEqual([a.id, true]);
  expect(c.id).not.toBe(a.id);
  expect(await scene.readCounted(owner)).toMatchObject({ used: 2 });
});

test("a repetition is answered where the cap is reached, and a start that the cap refuses leaves no key", async () => {
  const owner = await scene.createLimited({ cap: 1 });
  const [used, unused] = [createKey(), createKey()];
  const { id } = await scene.store.create(createExecution({ owner, key: used }));
  const tries = [used, unused, used].map((key) => scene.store.create(createExecution({ owner, key })));
  const [first, refused, second] = await Promise.allSettled(tries);
  expect([first, second]).toMatchObject([{ value: { id } }, { value: { id } }]);
  expect(refused).toMatchObject({ reason: { code: "QUOTA_EXCEEDED" } });
  expect(await countKeys(owner)).toBe(1);
  await scene.endMonth(owner);
  const later = await scene.store.create(createExecution({ owner, key: unused }));
  expect(later.isRepeated).toBeUndefined();
});

test("repetitions keep no place from a start of the same flush", async () => {
  const owner = await scene.createLimited({ cap: 2 });
  const key = createKey();
  await scene.store.create(createExecution({ owner, key }));
  const statements: unknown[] = [];
  const store = createPostgresExecutionStore({
    database: {
      ...scene.database,
      query: (statement) => {
        statements.push(statement.name);
        return scene.database.query(statement);
      },
    },
  });
  const keys = [key, key, createKey()];
  const records = await Promise.all(keys.map((one) => store.create(createExecution({ owner, key: one }))));
  expect(records.map(({ isRepeated }) => isRepeated)).toEqual([true, true, undefined]);
  expect(statements.filter((name) => name === "execution-create-keyed")).toHaveLength(1);
  await store.close();
});

test("a key counts for 24 hours, whether it was removed by then or not", async () => {
  const owner = createOwner();
  const key = createKey();
  const age = (hours: number) =>
    scene.home.database.query({
      text: "update idempotency_key set created_at = now() - make_interval(hours => $2) where owner_id = $1",
      values: [owner.id, hours],
    });
  const first = await scene.store.create(createExecution({ owner, key }));
  await age(23);
  expect((await scene.store.create(createExecution({ owner, key }))).id).toBe(first.id);
  await age(24);
  expect(await scene.store.findStarted(owner.id, key)).toBeNull();
  const racers = [createGateway(), createGateway()].flatMap((gateway) =>
    Array.from({ length: 5 }, () => gateway.create(createExecution({ owner, key: createKeyAnew(key) }))),
  );
  const ids = new Set((await Promise.all(racers)).map(({ id }) => id));
  expect([ids.size, ids.has(first.id), await countKeys(owner)]).toEqual([1, false, 1]);
});

test("a key that expires while it is looked at lets the start through, as if it had come a moment later", async () => {
  const owner = createOwner();
  const key = createKey();
  const first = await scene.store.create(createExecution({ owner, key }));
  const database = createExecutionDatabase(scene.home.target, scene.home);
  let looks = 0;
  const query: typeof database.query = async (statement) => {
    if (statement.name === "idempotency-key-find") {
      looks += 1;
      await scene.home.database.query({
        text: "update idempotency_key set created_at = created_at - interval '24 hours' where owner_id = $1",
        values: [owner.id],
      });
    }
    return database.query(statement);
  };
  const store = createPostgresExecutionStore({ database: { ...database, query } });
  onTestFinished(async () => {
    await store.close();
    await database.close();
  });
  const next = await store.create(createExecution({ owner, key }));
  expect([next.isRepeated, next.id === first.id, looks]).toEqual([undefined, false, 1]);
  expect([await countExecutions(owner), await countKeys(owner)]).toEqual([2, 1]);
});

/** The same key with another request: what is too old conflicts with nothing. */
const createKeyAnew = ({ keyHash }: ReturnType<typeof createKey>) => ({
  keyHash,
  requestHash: createKey("", Buffer.from("other")).requestHash,
});

test("keys are removed after a day, however many there are", async () => {
  const { database } = scene.home;
  const before = await count("idempotency_key");
  for (const [hours, made] of [
    [23, 3],
    [25, 20_001],
  ])
    await database.query({
      text: `insert into idempotency_key (owner_id, key_hash, request_hash, execution_id, created_at)
        select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - make_interval(hours => $1)
        from generate_series(1, $2)`,
      values: [hours, made],
    });
  expect(await removeOldKeys(database)).toBe(20_001);
  expect(await count("idempotency_key")).toBe(before + 3);
});

test("what was started and removed since is answered as it was at first", async () => {
  const owner = createOwner();
  const key = createKey();
  const first = await scene.store.create(createExecution({ owner, key }));
  await scene.home.database.query({ text: "delete from execution where id = $1", values: [first.id] });
  const again = await scene.store.create(createExecution({ owner, key }));
  expect(again).toMatchObject({ id: first.id, status: "PENDING", isRepeated: true, ownerId: owner.id });
  expect(Math.abs(again.createdAt - first.createdAt)).toBeLessThan(60_000);
});

test("a start with a key that finds an idle worker is claimed as it is created, and its repetition is not", async () => {
  const store = createGateway();
  const request = {
    workerId: "idle",
    sandboxLevel: "B",
    limit: 8,
    free: { cpu: 8, memory: 8 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  } as const;
  // What earlier tests have left would have its turn first.
  await emptyQueue(scene.store);
  const claims: NewExecution["id"][] = [];
  const stop = store.onCreate?.((claim) => {
    void claim(request)?.then((answer) => claims.push(...answer.claims.map(({ id }) => id)));
  });
  onTestFinished(() => stop?.());
  const [owner, key] = [await scene.createLimited({ cap: 5 }), createKey()];
  const first = await store.create(createExecution({ owner, key }));
  expect(await store.find(first.id, owner.id)).toMatchObject({ status: "RUNNING" });
  expect((await store.create(createExecution({ owner, key }))).id).toBe(first.id);
  expect(claims).toEqual([first.id]);
  expect([await countExecutions(owner), (await scene.readCounted(owner))?.used]).toEqual([1, 1]);
});

test("neither the key nor the request is stored", async () => {
  const owner = createOwner();
  await scene.store.create(createExecution({ owner, key: createKey("a-key-that-says-much") }));
  const rows = await scene.home.database.query({
    text: "select row_to_json(k)::text as text from idempotency_key k",
  });
  expect(JSON.stringify(rows)).not.toContain("says-much");
});

test("processes that start with the same keys and are killed at any moment leave one execution for each key, and answer it always", async () => {
  const owner = await scene.createLimited({ cap: 1_000_000 });
  const answered = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const members = [1, 2, 3].map(() =>
      spawn(execPath, [MEMBER, JSON.stringify(scene.home.target), owner.id, "8"], {
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
    await Promise.all(
      members.map(async (member, index) => {
        const ended = once(member, "exit");
        let text = "";
        member.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
        await waitUntil(() => text.split("\n").length > 1 + index * 20);
        member.kill("SIGKILL");
        await ended;
        for (const id of text.split("\n").slice(0, -1)) answered.add(id);
      }),
    );
  }
  // Statements of the dead go on in the server until they notice.
  await waitUntil(
    async () =>
      (await count(
        "pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query ~ 'execution'",
      )) === 0,
  );
  expect(await countExecutions(owner)).toBe(8);
  expect([await countKeys(owner), (await scene.readCounted(owner))?.used]).toEqual([8, 8]);
  expect(answered.size).toBeLessThanOrEqual(8);
  expect(
    await count("execution where owner_id = $1 and id = any ($2::uuid[])", owner.id, [...answered]),
  ).toBe(answered.size);
});
