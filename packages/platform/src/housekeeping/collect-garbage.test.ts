import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY } from "@platform/engine/base/time";
import { createLocalObjects } from "../objects/local-objects.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createKeptObjects } from "../objects/kept-objects.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createGarbageStore } from "../store/garbage.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { collectGarbage, removeStale } from "./collect-garbage.ts";

const RETENTION_DAYS = 30;

async function age(path: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY);
  await utimes(path, then, then);
}

describe("the collector", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let owner: TestUser;
  let root: string;
  let services = 0;

  beforeAll(async () => {
    home = await createTestDatabase();
    root = await mkdtemp(join(tmpdir(), "garbage-"));
    instance = await createTestInstance({ database: home.database, directory: root });
    owner = await createTestUser(instance);
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
    await rm(root, { recursive: true, force: true });
  });

  const folders = () => ({
    root,
    objects: join(root, "objects"),
    objectCache: join(root, "object-cache"),
    versions: join(root, "versions"),
    environments: join(root, "environments"),
    run: join(root, "run", "own"),
  });
  const objects = () => ({
    store: createLocalObjects(folders().objects),
    rows: createObjectRows(home.database, RETENTION_DAYS),
  });
  const keepObject = async (content: string) => {
    const { store, rows } = objects();
    const received = await createKeptObjects(store, rows).receive(Readable.from([content]), 1_000);
    await received.keep();
    return received.hash;
  };
  const pathOf = (hash: string) => join(folders().objects, hash.slice(0, 2), hash);
  const run = (query: string, ...values: readonly unknown[]) => home.database.query({ text: query, values });
  /** A service with a build of that archive, in the state that it has after being asked for. */
  const build = async (archiveHash: string, version = "1.0.0") => {
    const { organisationId, userId } = owner;
    const { key } = await instance.stores.services.create({
      organisationId,
      name: `service-${(services += 1)}`,
      description: "",
    });
    const created = await instance.stores.builds.create({
      organisationId,
      serviceKey: key,
      version,
      archiveHash,
      contentHash: archiveHash,
      isForced: false,
      requestedBy: userId,
    });
    return { key, id: created?.id ?? "" };
  };
  const makeLive = async (key: string, archiveHash: string) => {
    const [row] = await home.database.query<{ id: string }>({
      text: `insert into version (id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_milli,
        timeout_seconds, start_mode) values (gen_random_uuid(), $1, 1, 0, 0, $2, $2, 1, 1, 1, 'auto') returning id`,
      values: [key, archiveHash],
    });
    return row?.id ?? "";
  };
  const collect = () =>
    collectGarbage({
      data: folders(),
      garbage: createGarbageStore(home.database, RETENTION_DAYS),
      objects: objects(),
      uploads: instance.stores.uploads,
    });

  test("removes objects that no version and no build under way needs, and spares the others and what has just come", async () => {
    const names = ["stray", "young", "pending", "failed", "live", "retired", "long-retired", "busy"] as const;
    const hashes = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await keepObject(name)] as const)),
    ) as Record<(typeof names)[number], string>;
    await run("update object set kept_at = now() - interval '25 hours' where hash <> $1", hashes.young);
    await build(hashes.pending);
    const failed = await build(hashes.failed);
    await run(
      "update build set status = 'FAILED', ended_at = now(), failure_code = 'BUILD_FAILED' where id = $1",
      failed.id,
    );
    for (const name of ["live", "retired", "long-retired", "busy"] as const) {
      const { key, id } = await build(hashes[name]);
      await run("update build set status = 'SUCCEEDED', ended_at = now() where id = $1", id);
      const version = await makeLive(key, hashes[name]);
      if (name === "live") continue;
      const days = name === "retired" ? RETENTION_DAYS - 1 : RETENTION_DAYS + 1;
      await run(
        "update version set retired_at = now() - make_interval(days => $2) where id = $1",
        version,
        days,
      );
      if (name !== "busy") continue;
      await run(
        `insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds)
          values (gen_random_uuid(), 'subscription', gen_random_uuid(), gen_random_uuid(), $1, 1, 1, 1)`,
        version,
      );
    }
    expect(await collect()).toMatchObject({ objects: 3 });
    const left = names.filter((name) => existsSync(pathOf(hashes[name])));
    expect(left).toEqual(["young", "pending", "live", "retired", "busy"]);
  });

  test("removes the content of a file of a data pool a day after the file was deleted, and none before", async () => {
    const { organisationId, userId: createdBy } = owner;
    const { dataPools, poolFiles } = instance.stores;
    const pool = await dataPools.create({ organisationId, name: "pool", description: "", createdBy });
    if (pool === "name taken") throw new Error("There is no pool yet.");
    const hash = await keepObject("of a pool");
    const key = { organisationId, poolId: pool.id };
    const given = { name: "file", mediaType: "text/plain", bytes: 9, createdBy, mayReplace: false };
    const file = await poolFiles.put({ ...key, ...given, hash });
    if (file === null || typeof file === "string") throw new Error("The file could not be stored.");
    const age = () => run("update object set kept_at = now() - interval '25 hours' where hash = $1", hash);
    await age();
    await collect();
    await poolFiles.delete(key, file.id);
    await collect();
    expect(existsSync(pathOf(hash))).toBe(true);
    await run("update pool_file set ended_at = now() - interval '25 hours' where id = $1", file.id);
    expect(await collect()).toMatchObject({ files: 1, objects: 1 });
    expect(existsSync(pathOf(hash))).toBe(false);
  });

  test("keeps what an execution reads until it has ended", async () => {
    const hash = await keepObject("read by an execution");
    await run("update object set kept_at = now() - interval '25 hours' where hash = $1", hash);
    await run(
      `with made as (
          insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds)
          select gen_random_uuid(), 'organisation', $1, $1, v.id, 1, 1, 1 from version v limit 1 returning id
        ) insert into execution_object (execution_id, role, hash) select id, 'data', $2 from made`,
      owner.organisationId,
      hash,
    );
    expect(await collect()).toMatchObject({ reads: 0, objects: 0 });
    await run(
      `update execution set status = 'FAILED', ended_at = now(), failure_code = 'CANCELLED'
        where id = (select execution_id from execution_object where hash = $1)`,
      hash,
    );
    // More than one statement removes.
    const many = "select gen_random_uuid(), 'data', $1 from generate_series(1, 45000)";
    await run(`insert into execution_object (execution_id, role, hash) ${many}`, hash);
    expect(await collect()).toMatchObject({ reads: 45_001, objects: 1 });
    expect(existsSync(pathOf(hash))).toBe(false);
  });

  test("removes unpacked versions that no run can be using, after two weeks, and what killed processes left behind", async () => {
    const { versions, run: own } = folders();
    const runs = join(root, "run");
    const [unused, used] = ["a".repeat(64), "b".repeat(64)];
    for (const path of [unused, used, "incoming-killed", "incoming-busy"])
      await mkdir(join(versions, path), { recursive: true });
    for (const name of ["own", "killed", "other"]) await mkdir(join(runs, name), { recursive: true });
    await writeFile(join(runs, "killed", "socket"), "");
    await age(join(versions, unused), 15);
    await age(join(versions, used), 8);
    for (const path of [join(versions, "incoming-killed"), own, join(runs, "killed")]) await age(path, 2);
    expect(await collect()).toMatchObject({ versions: 1, leftovers: 2 });
    expect((await readdir(versions)).toSorted()).toEqual([used, "incoming-busy"].toSorted());
    expect((await readdir(runs)).toSorted()).toEqual(["other", "own"]);
  });

  test("removes cached objects that were not used for two weeks", async () => {
    const { objectCache } = folders();
    const [unused, used] = ["a".repeat(64), "b".repeat(64)];
    for (const hash of [unused, used]) {
      const path = join(objectCache, hash.slice(0, 2), hash);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, "");
      await age(path, hash === unused ? 15 : 13);
    }
    expect(await collect()).toMatchObject({ cached: 1 });
    expect(await readdir(join(objectCache, "aa"))).toEqual([]);
    expect(await readdir(join(objectCache, "bb"))).toEqual([used]);
  });

  test("removes what was begun to be stored two days ago", async () => {
    const { store, rows } = objects();
    const now = Date.now();
    const asked: number[] = [];
    const removeUnfinished = async (before: Date) => asked.push(before.getTime());
    const report = await collectGarbage({
      data: folders(),
      garbage: createGarbageStore(home.database, RETENTION_DAYS),
      objects: { store: { ...store, removeUnfinished }, rows },
      uploads: instance.stores.uploads,
      now,
    });
    expect(asked).toEqual([now - 2 * DAY]);
    expect(report.leftovers).toBe(1);
  });

  test("removes failed builds and the logs of builds that ended before the retention", async () => {
    const hash = "c".repeat(64);
    const ended = "ended_at = now() - make_interval(days => $2)";
    const states: readonly (readonly [string, number])[] = [
      ["status = 'FAILED', failure_code = 'BUILD_FAILED'", 29],
      ["status = 'FAILED', failure_code = 'BUILD_FAILED'", 31],
      ["status = 'SUCCEEDED'", 31],
    ];
    const ids: string[] = [];
    for (const [state, days] of states) {
      const { id } = await build(hash);
      ids.push(id);
      await run("insert into build_log (build_id, line, text) values ($1, 0, 'text')", id);
      await run(`update build set ${state}, ${ended} where id = $1`, id, days);
    }
    expect(await collect()).toMatchObject({ builds: 2 });
    const rows = await home.database.query<{ id: string; lines: number }>({
      text: `select b.id, (select count(*)::int from build_log l where l.build_id = b.id) as lines from build b
        where b.id = any($1::uuid[]) order by b.id`,
      values: [ids],
    });
    expect(rows).toEqual([
      { id: ids[0], lines: 1 },
      { id: ids[2], lines: 0 },
    ]);
    expect(await collect()).toMatchObject({ builds: 0 });
  });

  test("removes sessions that ended a month ago and yesterday's counters of tries, and no others", async () => {
    const { identity, database } = instance;
    const insert = async (device: string, change: string) => {
      await identity.createSession(owner.userId, { userAgent: device, ip: "192.0.2.1" });
      await run(`update session set ${change} where device = $1`, device);
    };
    await insert("open", "created_at = now() - interval '90 days'");
    await insert("just ended", "revoked_at = now()");
    await insert("ended", "expires_at = now() - interval '31 days'");
    await insert("revoked", "revoked_at = now() - interval '31 days'");
    for (const [subject, hours] of [
      ["client:new", 23],
      ["client:old", 25],
    ] as const)
      await run(
        "insert into sign_in_attempt (subject, tries, try_id, tried_at) values ($1, 1, gen_random_uuid(), now() - make_interval(hours => $2))",
        subject,
        hours,
      );
    for (const [code, hours] of [
      ["new", 23],
      ["old", 25],
    ] as const)
      await run(
        `insert into device_login (id, device_code_hash, user_code_hash, client_name, ip, scopes, expires_at, interval_seconds)
          values (gen_random_uuid(), $1, $1, 'test', '192.0.2.1', '{}', now() - make_interval(hours => $2), 5)`,
        code,
        hours,
      );
    expect(await createGarbageStore(database, RETENTION_DAYS).removeOldSignIns()).toBe(4);
    expect(await run("select user_code_hash from device_login")).toEqual([{ user_code_hash: "new" }]);
    expect(await run("select device from session order by device")).toEqual([
      { device: "just ended" },
      { device: "open" },
    ]);
    expect(await run("select subject from sign_in_attempt")).toEqual([{ subject: "client:new" }]);
  });

  test("removes what opened something until a month ago, unless another row refers to it", async () => {
    const { userId, organisationId } = await createTestUser(instance);
    const { id: applicationId } = await instance.stores.applications.create({
      organisationId,
      name: "shop",
      createdBy: userId,
    });
    const insertToken = async (name: string, days: number | null, parent: string | null = null) => {
      const id = randomUUID();
      await run(
        `insert into personal_access_token (id, user_id, name, token_hash, scopes, revoked_at, parent_id)
          values ($1, $2, $3, $3, '{}', now() - make_interval(days => $4), $5)`,
        id,
        userId,
        name,
        days,
        parent,
      );
      return id;
    };
    await insertToken("child of old", 29, await insertToken("old, with a child", 31));
    await insertToken("old", 31);
    await insertToken("open", null);
    const insertKey = (id: string, days: number | null, next: string | null = null) =>
      run(
        `insert into access_key (id, application_id, secret_hash, expires_at, replaced_by)
          values ($1, $2, $1, now() - make_interval(days => $3), $4)`,
        id,
        applicationId,
        days,
        next,
      );
    await insertKey("old, replaced another", 31);
    await insertKey("replaced", 29, "old, replaced another");
    await insertKey("old", 31);
    await insertKey("open", null);
    for (const days of [29, 31])
      await run(
        `insert into invitation (id, organisation_id, role, token_hash, invited_by, expires_at)
          values (gen_random_uuid(), $1, 'viewer', $2, $3, now() - make_interval(days => $4))`,
        organisationId,
        String(days),
        userId,
        days,
      );
    for (const [name, sealed, days] of [
      ["SET", "x", 31],
      ["GONE", null, 29],
      ["LONG_GONE", null, 31],
    ] as const)
      await run(
        `insert into variable (organisation_id, scope_id, name, revision, sealed, key_id, changed_by, changed_at)
          values ($1, $1, $2, 1, $3, '', $4, now() - make_interval(days => $5))`,
        organisationId,
        name,
        sealed,
        userId,
        days,
      );
    expect(await createGarbageStore(home.database, RETENTION_DAYS).removeEndedAccess()).toBe(4);
    const readNames = async (text: string) =>
      (await home.database.query<{ name: string }>({ text, values: [userId] })).map(({ name }) => name);
    expect(
      await readNames(
        "select name from personal_access_token where user_id = $1 and name <> 'test' order by name",
      ),
    ).toEqual(["child of old", "old, with a child", "open"]);
    expect(
      await readNames(
        "select k.id as name from access_key k join application a on a.id = k.application_id where a.created_by = $1 order by k.id",
      ),
    ).toEqual(["old, replaced another", "open", "replaced"]);
    expect(await readNames("select token_hash as name from invitation where invited_by = $1")).toEqual([
      "29",
    ]);
    expect(await readNames("select name from variable where changed_by = $1 order by name")).toEqual([
      "GONE",
      "SET",
    ]);
  });

  test("removes buckets of starts that were not used for a day", async () => {
    for (const hours of [23, 25])
      await run(
        "insert into start_bucket (subject, level, granted, at) values ($1, 0, 0, now() - make_interval(hours => $2))",
        `application:${hours}`,
        hours,
      );
    expect(await createGarbageStore(home.database, RETENTION_DAYS).removeFullBuckets()).toBe(1);
    expect(await run("select subject from start_bucket")).toEqual([{ subject: "application:23" }]);
  });
});

test("only what bears the prefix and has not changed for a day is removed, and a missing folder is no error", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stale-files-"));
  const old = new Date(Date.now() - 2 * DAY);
  for (const name of ["incoming-old", "incoming-new", "0a1b2c"]) await writeFile(join(directory, name), "");
  for (const name of ["incoming-old", "0a1b2c"]) await utimes(join(directory, name), old, old);
  expect(await removeStale(directory, "incoming-")).toBe(1);
  expect(new Set(await readdir(directory))).toEqual(new Set(["0a1b2c", "incoming-new"]));
  expect(await removeStale(join(directory, "nowhere"), "")).toBe(0);
  await rm(directory, { recursive: true });
});
