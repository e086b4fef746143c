import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toJobOwner } from "@platform/engine/store/owner";
import type { Owner } from "@platform/engine/store/owner";
import { DAY } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { migrate } from "../postgres/migrate.ts";
import { migrateTo } from "../testing/former-schema.ts";
import { insertTestVersion } from "../testing/fixtures.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createPostgresExecutionStore } from "./executions/execution-store.ts";
import { ensurePartitions } from "./executions/partitions.ts";
import { createStores } from "./stores.ts";
import { checkUsage } from "./usage/check.ts";

let home: TestDatabase;
let former: string;

beforeEach(async () => {
  home = await createTestDatabase({ isEmpty: true });
  former = await mkdtemp(join(tmpdir(), "platform-former-"));
});

afterEach(async () => {
  await home.close();
  await rm(former, { recursive: true });
});

interface FormerRows {
  readonly organisationId: string;
  readonly applicationId: string;
  readonly serviceKey: string;
  readonly versionId: string;
  /** Cancelled by now; its executions are still read. */
  readonly subscriptionId: string;
  /** By the id of their owner. */
  readonly executionIds: Readonly<Record<string, string>>;
}

const FORMER_ARCHIVE = "a".repeat(64);

/** What schema 0008 held, written with its own columns. */
async function insertFormerRows(database: Database): Promise<FormerRows> {
  const run = async (text: string, ...values: unknown[]) => database.query({ text, values });
  const organisationId = createUuidV7();
  const applicationId = createUuidV7();
  const serviceKey = createUuidV7();
  const subscriptionId = createUuidV7();
  const versionId = createUuidV7();
  await run(
    `insert into "organization" ("id", "name", "slug", "createdAt") values ($1, 'Ada', 'ada', now())`,
    organisationId,
  );
  await run(
    "insert into service (key, organization_id, name) values ($1, $2, 'demo')",
    serviceKey,
    organisationId,
  );
  await run(
    `insert into version (id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_mb,
        timeout_seconds, start_mode) values ($1, $2, 1, 0, 0, $3, 'c', 500, 1500, 60, 'auto')`,
    versionId,
    serviceKey,
    FORMER_ARCHIVE,
  );
  await run(
    `insert into build (id, service_key, major, minor, patch, archive_hash, content_hash, requested_by, state,
        started_at, finished_at) values ($1, $2, 1, 0, 0, 'a', 'c', 'ada', 'SUCCEEDED', now(), now())`,
    createUuidV7(),
    serviceKey,
  );
  await run(
    "insert into application (id, organization_id, name, created_by) values ($1, $2, 'shop', 'ada')",
    applicationId,
    organisationId,
  );
  await run(
    "insert into subscription (id, application_id, service_key, cancelled_at) values ($1, $2, $3, now())",
    subscriptionId,
    applicationId,
    serviceKey,
  );
  const executionIds: Record<string, string> = {};
  for (const ownerId of [subscriptionId, organisationId, randomUUID()]) {
    const id = createUuidV7();
    executionIds[ownerId] = id;
    await run(
      "insert into execution (id, owner_id, version_id, cpu_milli, memory_mb, timeout_seconds) values ($1, $2, $3, 500, 1500, 60)",
      id,
      ownerId,
      versionId,
    );
    await run("insert into execution_input (id, body) values ($1, '{}')", id);
  }
  return { organisationId, applicationId, serviceKey, versionId, subscriptionId, executionIds };
}

test.each(["in the partitions of their days", "in the default partition"])(
  "an installation of schema 0008 keeps its rows, and executions %s learn who owns them",
  async (place) => {
    const options = { logger: home.logger, retentionDays: 30 };
    await migrateTo(home.database, 8);
    if (place !== "in the default partition") await ensurePartitions(home.database, options);
    const rows = await insertFormerRows(home.database);
    await migrate(home.database);
    await ensurePartitions(home.database, options);

    expect(await home.database.query({ text: "select hash, bytes from object" })).toEqual([
      { hash: FORMER_ARCHIVE, bytes: null },
    ]);
    const { organisationId, subscriptionId } = rows;
    const stores = createStores(home.database);
    expect(await stores.services.findByKey(organisationId, rows.serviceKey)).toMatchObject({ name: "demo" });
    expect(await stores.applications.find(organisationId, rows.applicationId)).toMatchObject({
      name: "shop",
    });
    expect(await stores.versions.findById(rows.versionId)).toMatchObject({
      resources: { cpu: 0.5, memory: 1.5 },
    });
    expect(await stores.builds.findLatest(organisationId, rows.serviceKey, "1.0.0")).toMatchObject({
      status: "SUCCEEDED",
      endedAt: expect.any(Number),
    });

    const store = createPostgresExecutionStore({ database: home.database });
    const { claims } = await store.claim({
      workerId: "worker",
      sandboxLevel: "B" as const,
      limit: 10,
      free: { cpu: 10, memory: 10 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    });
    const owners = new Map<string, Owner>([
      [subscriptionId, { kind: "subscription", id: subscriptionId, organisationId }],
    ]);
    for (const [ownerId, id] of Object.entries(rows.executionIds)) {
      const claim = claims.find((one) => one.id === id);
      // An owner that is neither known as a subscription nor as an organisation stands for itself.
      expect(claim?.owner).toEqual(owners.get(ownerId) ?? toJobOwner(ownerId));
      expect(claim?.resources).toEqual({ cpu: 0.5, memory: 1.5 });
      expect(await store.find(id, ownerId)).toMatchObject({ id, ownerId, status: "RUNNING" });
    }
    await store.close();
  },
);

test("what has ended before usage was kept is usage afterwards, under the plan that its subscription has", async () => {
  await migrateTo(home.database, 24);
  const run = (text: string, ...values: unknown[]) => home.database.query({ text, values });
  const [organisationId, planId, subscriptionId, versionId] = Array.from({ length: 4 }, createUuidV7);
  const key = createUuidV7();
  const application = createUuidV7();
  await run("insert into organisation (id, name, slug) values ($1, 'Ada', 'ada')", organisationId);
  await run("insert into service (key, organisation_id, name) values ($1, $2, 'demo')", key, organisationId);
  await run(
    "insert into plan (id, service_key, slug, revision, name) values ($1, $2, 'free', 1, 'Free')",
    planId,
    key,
  );
  await run(
    "insert into application (id, organisation_id, name, created_by) values ($1, $2, 'shop', 'ada')",
    application,
    organisationId,
  );
  await run(
    `insert into subscription (id, application_id, service_key, plan_id, created_at) values ($1, $2, $3, $4, now() - interval '1 hour')`,
    subscriptionId,
    application,
    key,
    planId,
  );
  const ends = [
    ["SUCCEEDED", null],
    ["FAILED", "EXECUTION_ERROR"],
    ["FAILED", "NOT_STARTED"],
    ["UNKNOWN", "WORKER_LOST"],
    ["PENDING", null],
  ];
  for (const [status, code] of ends) {
    await run(
      `insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
          status, failure_code, worker_id, started_at, ended_at)
        select $1, 'subscription', $2, $3, $4, 500, 1500, 60, $5, $6, w, s, s + interval '2 seconds'
        from (select case $5 when 'PENDING' then null else 'worker' end as w, case $5 when 'PENDING' then null else now() end as s) t`,
      createUuidV7(),
      subscriptionId,
      organisationId,
      versionId,
      status,
      code,
    );
  }
  await migrate(home.database);
  await ensurePartitions(home.database, { logger: home.logger, retentionDays: 30 });
  const rows = await run(
    "select owner_id, plan_id, succeeded::int, failed::int, unknown::int, uncounted::int, gb_micros::int from usage_day",
  );
  expect(rows).toEqual([
    {
      owner_id: subscriptionId,
      plan_id: planId,
      succeeded: 1,
      failed: 2,
      unknown: 1,
      uncounted: 2,
      gb_micros: 2 * 1500 * 2000,
    },
  ]);
  expect(await checkUsage(home.database)).toMatchObject({ lines: 1, differences: [] });
});

test("subscriptions of before have the limits of their plans, and go on counting", async () => {
  await migrateTo(home.database, 27);
  const run = (text: string, ...values: unknown[]) => home.database.query({ text, values });
  const [organisationId, key] = [createUuidV7(), createUuidV7()];
  await run("insert into organisation (id, name, slug) values ($1, 'Ada', 'ada')", organisationId);
  await run("insert into service (key, organisation_id, name) values ($1, $2, 'demo')", key, organisationId);
  const plans = [
    ["seconds", "cpu-second", 100, null],
    ["few", "execution", null, 4],
    ["capped", "execution", 50, 2],
    ["free", "execution", null, null],
  ] as const;
  const names = new Map<string, string>();
  for (const [slug, unit, cap, concurrent] of plans) {
    const [plan, application, subscription] = [createUuidV7(), createUuidV7(), createUuidV7()];
    names.set(subscription, slug);
    await run(
      `with made as (
          insert into application (id, organisation_id, name, created_by) values ($5, $6, $2, 'ada')
        ), offered as (
          insert into plan (id, service_key, slug, revision, name, unit, hard_cap, max_concurrent)
            values ($1, $7, $2, 1, $2, $3, $4, $8)
        )
        insert into subscription (id, application_id, service_key, plan_id) values ($9, $5, $7, $1)`,
      plan,
      slug,
      unit,
      cap,
      application,
      organisationId,
      key,
      concurrent,
      subscription,
    );
    if (slug === "capped") {
      const text =
        "insert into quota (subscription_id, cap, month, used) values ($1, 50, date_trunc('month', now() at time zone 'UTC'), 7)";
      await run(text, subscription);
    }
  }
  await migrate(home.database);
  const rows = await home.database.query<{ id: string }>({
    text: `select subscription_id as id, cap::int, used::int, cpu_cap::int as "cpuCap", cpu_used::int as "cpuUsed", concurrent, unended
      from quota`,
  });
  expect(new Map(rows.map(({ id, ...row }) => [names.get(id), row]))).toEqual(
    new Map([
      ["seconds", { cap: null, used: 0, cpuCap: 100e6, cpuUsed: 0, concurrent: null, unended: 0 }],
      ["few", { cap: null, used: 0, cpuCap: null, cpuUsed: 0, concurrent: 4, unended: 0 }],
      ["capped", { cap: 50, used: 7, cpuCap: null, cpuUsed: 0, concurrent: 2, unended: 0 }],
    ]),
  );
});

test("a service or an application belongs to an organisation that exists", async () => {
  await migrate(home.database);
  for (const text of [
    "insert into service (key, organisation_id, name, description) values ($1, $2, 'a', '')",
    "insert into application (id, organisation_id, name, created_by) values ($1, $2, 'a', 'ada')",
  ]) {
    const inserting = home.database.query({ text, values: [randomUUID(), randomUUID()] });
    await expect(inserting).rejects.toThrow(/foreign key/u);
  }
});

test("secrets are kept, and variables can be set beside them", async () => {
  await migrateTo(home.database, 24);
  const [organisationId, by] = [randomUUID(), randomUUID()];
  const run = (text: string, ...values: unknown[]) => home.database.query({ text, values });
  await run("insert into organisation (id, name, slug) values ($1, 'Ada', 'ada')", organisationId);
  await run("insert into platform_user (id, email, name) values ($1, 'ada@example.org', 'Ada')", by);
  await run(
    `insert into secret (organisation_id, scope_id, name, revision, sealed, key_id, changed_by)
      values ($1, $1, 'API_TOKEN', 2, 'sealed', 'key', $2), ($1, $1, 'GONE', 4, null, 'key', $2)`,
    organisationId,
    by,
  );
  await migrate(home.database);
  const { variables } = createStores(home.database);
  const [place, page] = [
    { organisationId, serviceKey: null },
    { limit: 9, offset: 0 },
  ];
  expect(await variables.list(place, "secret", page)).toMatchObject([
    { name: "API_TOKEN", value: null, revision: 2, changedBy: "Ada" },
  ]);
  expect(await variables.list(place, "variable", page)).toEqual([]);
  const variable = { kind: "variable", value: "back", by, limit: 9 } as const;
  expect(await variables.put(place, "GONE", variable)).toMatchObject({ value: "back", revision: 5 });
  expect(await variables.put(place, "API_TOKEN", variable)).toBe("other kind");
});

test("a migration that fails is named, with the code of the error, and changes nothing", async () => {
  await writeFile(join(former, "0001_first.sql"), "create table first ();");
  await writeFile(join(former, "0002_wrong.sql"), "create table second (); select nothing_of_this_name;");
  await expect(migrate(home.database, former)).rejects.toMatchObject({
    message: expect.stringContaining("0002_wrong.sql"),
    code: "42703",
  });
  const tables = await home.database.query({
    text: "select table_name from information_schema.tables where table_name in ('first', 'second')",
  });
  expect(tables).toEqual([{ table_name: "first" }]);
});

test("an execution of a former release is kept as the platform keeps others; the columns wait for nobody for long", async () => {
  const options = { logger: home.logger, retentionDays: 30 };
  await migrateTo(home.database, 34);
  await ensurePartitions(home.database, options);
  const [id, ownerId] = [createUuidV7(), randomUUID()];
  await home.database.query({
    text: `insert into execution (id, owner_id, owner_kind, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds)
      values ($1, $2, 'subscription', $2, $2, 1, 1, 1)`,
    values: [id, ownerId],
  });
  const impatient = home.connect({ retryMilliseconds: 0 });
  const reader = await home.database.pool.connect();
  try {
    await reader.query("begin");
    await reader.query("select 1 from execution");
    await expect(migrate(impatient)).rejects.toMatchObject({ cause: { code: "55P03" } });
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  await migrate(home.database);
  const store = createPostgresExecutionStore({ database: home.database });
  const record = await store.find(id, ownerId);
  expect(record).toMatchObject({ status: "PENDING" });
  expect(record).not.toHaveProperty("kept");
  await store.close();
});

test("inputs and results are stored as they came, also in the days that were made before and are made later", async () => {
  const keepHouse = async (now: number) =>
    ensurePartitions(home.database, { logger: home.logger, retentionDays: 30, now });
  await migrateTo(home.database, 43);
  await keepHouse(Date.now());
  await migrate(home.database);
  await keepHouse(Date.now() + DAY);
  const stored = await home.database.query<{ storage: string; tables: number }>({
    text: `select attstorage as storage, count(*)::int as tables
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where (relname ~ '^execution_input(_|$)' and attname = 'body')
        or (relname ~ '^(execution|kept)_result(_|$)' and attname = 'result')
      group by attstorage`,
  });
  // Ten days of two tables, those for other days, the tables themselves, and what is kept for longer.
  expect(stored).toEqual([{ storage: "e", tables: 25 }]);
});

test("schemas of before say what they said; only the order of what is stored from now on is that of the program", async () => {
  await migrateTo(home.database, 82);
  const organisationId = createUuidV7();
  await home.database.query({
    text: "insert into organisation (id, name, slug) values ($1, 'Ada', 'ada')",
    values: [organisationId],
  });
  const [serviceKey, id] = [createUuidV7(), createUuidV7()];
  const inputSchema = { values: 1, mode: 12.5 };
  await home.database.query({
    text: `with s as (insert into service (key, organisation_id, name) values ($2, $3, 'demo'))
      insert into version (id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_milli,
        timeout_seconds, start_mode, input_schema) values ($1, $2, 1, 0, 0, 'a', 'c', 1, 1, 1, 'auto', $4)`,
    values: [id, serviceKey, organisationId, JSON.stringify(inputSchema)],
  });
  await migrate(home.database);
  await insertTestVersion(home.database, { serviceKey, version: "2.0.0", inputSchema });
  const { versions } = createStores(home.database);
  const read = async (version: string) =>
    JSON.stringify((await versions.find(organisationId, serviceKey, version))?.inputSchema);
  expect(await read("1.0.0")).toBe('{"mode":12.5,"values":1}');
  expect(await read("2.0.0")).toBe('{"values":1,"mode":12.5}');
});
