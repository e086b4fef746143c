import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FileReference } from "@platform/contract/execution";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { ObjectDamaged, ObjectMissing, StoreFull, StoreUnavailable } from "../objects/object-store.ts";
import { createDataPools } from "./data-pools.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { toJobOwner } from "@platform/engine/store/owner";
import type { TestUser } from "../testing/fixtures.ts";
import { MAX_TEST_FILE, TEST_POOL_LIMITS, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createPostgresExecutionStore,
  createExecutionDatabase,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { Database } from "../postgres/database.ts";

let home: TestDatabase;
let here: TestInstance;
let database: Database;
let store: PostgresExecutionStore;
let owner: TestUser;
let poolId: string;
let serviceKey: string;
let folder: string;

beforeAll(async () => {
  home = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "placed-"));
  database = createExecutionDatabase(home.target, { logger: home.logger });
  store = createPostgresExecutionStore({ database });
  here = await createTestInstance({ database: home.database, executionStore: store });
});
afterAll(async () => {
  await here?.close();
  await store?.close();
  await database?.close();
  await home?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  owner = await createTestUser(here);
  const made = await call("POST", "/data-pools", { name: "Inputs" });
  poolId = made.json<{ id: string }>().id;
  ({ serviceKey } = await createTestService(here, owner));
});

function call(method: "POST" | "PUT" | "DELETE", path: string, body: object | string, by: TestUser = owner) {
  return here.api.inject({
    method,
    url: `/api${path}`,
    headers: { authorization: `Bearer ${by.token}`, "content-type": "application/json" },
    payload: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function put(content: string, name = "input.json"): Promise<PoolFile> {
  const stored = await call("PUT", `/data-pools/${poolId}/files/${name}`, content);
  expect(stored.statusCode).toBe(201);
  return stored.json();
}

const startJob = (body: object, by: TestUser = owner) =>
  call("POST", `/jobs?serviceKey=${serviceKey}`, body, by);

/** What a worker would be given; and the content of its data. */
async function claim(id: string) {
  const { claims } = await store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 100,
    free: { cpu: 100, memory: 100 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  });
  const claimed = claims.find((one) => one.id === id);
  if (claimed === undefined) throw new Error("The execution was not claimed.");
  return claimed;
}

const pin = (ids: readonly string[] = [poolId], by: TestUser = owner) =>
  here.inputs.pinPools(ids, toJobOwner(by.organisationId));

describe("a data pool as a folder of a run", () => {
  test("is pinned with its files by name; a pool without files is one, and the same pool twice is the same twice", async () => {
    expect(await pin()).toEqual([[]]);
    const second = await put("b", "b.txt");
    const first = await put("ab", "a.txt");
    await put("c", "b.txt");
    const third = await put("b", "b.txt");
    const pinned = [first, third].map(({ fileId, name, sha256, bytes }) => ({ fileId, name, sha256, bytes }));
    expect(await pin()).toEqual([pinned]);
    expect(third.fileId).not.toBe(second.fileId);
    expect(await pin([poolId, poolId.toUpperCase()])).toEqual([pinned, pinned]);
  });

  test("counts each of its files: who names many is refused for a time, and others are not", async () => {
    // 2 files a second in the long run, 20 at once.
    const slow = await createTestInstance({ database: home.database, startsPerSecond: 0.1 });
    try {
      for (const name of ["a", "b", "c", "d"]) await put(name, name);
      const stranger = await createTestUser(slow);
      const pinTimes = async (by: TestUser) => {
        let pinned = 0;
        for (; pinned < 20; pinned += 1) await slow.inputs.pinPools([poolId], toJobOwner(by.organisationId));
        return pinned;
      };
      await expect(pinTimes(owner)).rejects.toMatchObject({
        code: "RATE_LIMITED",
        headers: { "retry-after": expect.any(String) },
      });
      await expect(slow.inputs.pinPools([poolId], toJobOwner(stranger.organisationId))).rejects.toMatchObject(
        {
          code: "DATA_REFERENCE_INVALID",
        },
      );
    } finally {
      await slow.close();
    }
  });

  test("is refused alike where it is another's, unknown, shared no more, or deleted", async () => {
    await put("{}");
    const stranger = await createTestUser(here);
    const unknown = "00000000-0000-4000-8000-000000000000";
    const refused = { code: "DATA_REFERENCE_INVALID" };
    await expect(pin([poolId], stranger)).rejects.toMatchObject(refused);
    await expect(pin([poolId, unknown])).rejects.toMatchObject(refused);
    await call("DELETE", `/data-pools/${poolId}`, {});
    await expect(pin()).rejects.toMatchObject(refused);
  });

  test("has at most so many files and bytes", async () => {
    for (let count = 0; count < TEST_POOL_LIMITS.files; count++) await put("{}", `${count}.json`);
    expect((await pin())[0]).toHaveLength(TEST_POOL_LIMITS.files);
    await put("x".repeat(TEST_POOL_LIMITS.bytes), "0.json");
    await expect(pin()).rejects.toThrow("GB together");
    await put("{}", "0.json");
    await put("{}", "more.json");
    await expect(pin()).rejects.toThrow(`more than ${TEST_POOL_LIMITS.files} files together`);
  });

  test("counts as often as it is named: each time is a folder of the run, with all files", async () => {
    const half = "x".repeat(TEST_POOL_LIMITS.bytes / 2);
    await put(half, "a.txt");
    expect(await pin([poolId, poolId.toUpperCase()])).toHaveLength(2);
    await expect(pin([poolId, poolId.toUpperCase(), poolId])).rejects.toThrow("GB together");
    await put("", "a.txt");
    const times = (count: number) => Array<string>(count).fill(poolId);
    expect(await pin(times(TEST_POOL_LIMITS.files))).toHaveLength(TEST_POOL_LIMITS.files);
    await expect(pin(times(TEST_POOL_LIMITS.files + 1))).rejects.toThrow(
      `more than ${TEST_POOL_LIMITS.files} files together`,
    );
  });

  test("is stored with the start, once for each content, and what it reads is needed until the end", async () => {
    await put("{}", "a.json");
    await put("{}", "b.json");
    const [files = []] = await pin();
    const pools = [{ path: ["params", "maps"], dataPoolId: poolId, files }];
    const id = createUuidV7();
    await store.create({
      id,
      owner: toJobOwner(owner.organisationId),
      versionId: randomUUID(),
      resources: { cpu: 1, memory: 1 },
      timeoutSeconds: 1,
      body: Buffer.from("{}"),
      references: { pools },
    });
    expect((await claim(id)).references).toEqual({ pools });
    const named = await home.database.query({
      text: "select role, hash from execution_object where execution_id = $1",
      values: [id],
    });
    expect(named).toEqual([{ role: "pool", hash: files[0]?.sha256 }]);
  });
});

describe("a start by reference", () => {
  test("reads the content that the reference named then, whatever becomes of the file", async () => {
    const { reference, sha256 } = await put('{"a": 1}');
    const started = await startJob({ dataRef: reference, params: {} });
    expect(started.statusCode).toBe(201);
    await put('{"a": 2}');
    await call("DELETE", `/data-pools/${poolId}`, {});
    const { references } = await claim(started.json<{ id: string }>().id);
    expect(references).toEqual({ data: { ...reference, sha256, bytes: 8 } });
    const path = join(folder, "data");
    if (references.data === undefined) throw new Error("There is no data.");
    expect(await here.inputs.place(references.data, path)).toBe("placed");
    expect(await readFile(path, "utf8")).toBe('{"a": 1}');
    const named = await home.database.query({
      text: "select role, hash from execution_object where hash = $1",
      values: [sha256],
    });
    expect(named).toEqual([{ role: "data", hash: sha256 }]);
  });

  test("reads the part that a pointer names", async () => {
    const { reference } = await put('{"maps": {"berlin": {"a": 1}}}');
    const dataRef = { ...reference, pointer: "/maps/berlin" };
    const started = await startJob({ dataRef });
    expect(started.statusCode).toBe(201);
    const { references } = await claim(started.json<{ id: string }>().id);
    expect(references.data).toMatchObject({ ...dataRef, range: { start: 20, end: 28 } });
    for (const pointer of ["/maps/paris", "/maps/berlin/a"])
      expect((await startJob({ dataRef: { ...reference, pointer } })).json().code).toBe(
        "DATA_REFERENCE_INVALID",
      );
    expect((await startJob({ dataRef: { ...reference, pointer: "maps" } })).json()).toMatchObject({
      code: "INVALID_INPUT",
      errors: [{ path: "/dataRef/pointer" }],
    });
  });

  test.each([
    ["an array", "[1]", /byte 0/u],
    ["a scalar", "1", /byte 0/u],
    ["nothing", "", /byte 0/u],
    ["a broken object", '{"a": 1', /byte 7/u],
    ["a byte order mark", "\ufeff{}", /byte 0/u],
    ["NaN", '{"a": NaN}', /byte 6/u],
    ["two objects", "{}{}", /byte 2/u],
  ])(
    "is refused where the file holds %s, with the place; asked again, nobody looks again",
    async (_what, content, place) => {
      const { reference, sha256 } = await put(content);
      for (let time = 0; time < 2; time++) {
        const refused = await startJob({ dataRef: reference });
        expect([refused.statusCode, refused.json().code]).toEqual([422, "DATA_REFERENCE_INVALID"]);
        expect(refused.json().detail).toMatch(place);
      }
      const rows = await home.database.query({
        text: "select form from object where hash = $1",
        values: [sha256],
      });
      expect(rows).toEqual([{ form: "other" }]);
    },
  );

  test("is refused alike for what is another's, unknown, replaced or deleted", async () => {
    const { reference } = await put("{}");
    const stranger = await createTestUser(here);
    const { serviceKey: own } = await createTestService(here, stranger);
    const unknown: FileReference = { ...reference, fileId: "00000000-0000-4000-8000-000000000000" };
    const foreign = await call("POST", `/jobs?serviceKey=${own}`, { dataRef: reference }, stranger);
    expect([foreign.statusCode, foreign.json().code]).toEqual([422, "DATA_REFERENCE_INVALID"]);
    const none = await startJob({ dataRef: unknown });
    const crossed = await startJob({ dataRef: { ...reference, dataSourceDescriptorId: unknown.fileId } });
    await put("{ }");
    const replaced = await startJob({ dataRef: reference });
    for (const other of [none, crossed, replaced]) expect(other.body).toBe(foreign.body);
  });

  test("is refused beyond the size that executions read", async () => {
    const { reference } = await put(`{"a": "${"x".repeat(MAX_TEST_FILE - 9)}"}`);
    expect((await startJob({ dataRef: reference })).json().detail).toMatch(/reads at most/u);
  });
});

const AWAY = new StoreUnavailable("The bucket is away.");
const DAMAGED = new ObjectDamaged("0");
const FULL = new StoreFull({});

test.each([
  ["is gone", new ObjectMissing("0"), "gone"],
  ["cannot be asked for", AWAY, expect.objectContaining({ code: "UNAVAILABLE", cause: AWAY })],
  ["was damaged in its store", DAMAGED, expect.objectContaining({ code: "UNAVAILABLE", cause: DAMAGED })],
  ["has no room here", FULL, FULL],
])(
  "of an input that %s it is said whether the store is at fault, or this machine",
  async (_, error, said) => {
    const { place } = createDataPools({
      references: {
        find: () => Promise.reject(error),
        listFiles: () => Promise.reject(error),
        setForm: () => Promise.reject(error),
      },
      objects: { fetchTo: () => Promise.reject(error) },
      jsonCheck: { ask: () => Promise.reject(error) },
      directory: folder,
      maxBytes: 1,
      poolLimits: { files: 1, bytes: 1 },
      fileLimits: { admit: () => Promise.reject(error), charge: () => undefined },
    });
    const pin = { dataPoolId: "p", dataSourceDescriptorId: "d", fileId: "f", sha256: "0", bytes: 2 };
    expect(await place(pin, join(folder, "none")).catch((fault: unknown) => fault)).toEqual(said);
  },
);
