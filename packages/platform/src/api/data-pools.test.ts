import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { MAX_TEST_FILE, TEST_POOL_BYTES, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let owner: TestUser;
let pool: DataPool;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  owner = await createTestUser(here);
  pool = (await call("POST", "/data-pools", { name: "Maps" })).json();
});

type Headers = Readonly<Record<string, string>>;

function send(
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE",
  path: string,
  { payload, headers = {}, by = owner }: { payload?: string | Buffer; headers?: Headers; by?: TestUser } = {},
) {
  return here.api.inject({
    method,
    url: `/api${path}`,
    headers: { authorization: `Bearer ${by.token}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
}

const call = (method: "POST" | "PUT", path: string, body: object) =>
  send(method, path, { payload: JSON.stringify(body), headers: { "content-type": "application/json" } });

const nameFile = (name: string) => `/data-pools/${pool.id}/files/${encodeURIComponent(name)}`;
const put = (name: string, content: string | Buffer, headers: Headers = {}) =>
  send("PUT", nameFile(name), {
    payload: content,
    headers: { "content-type": "application/json", ...headers },
  });

async function store(name: string, content: string | Buffer): Promise<PoolFile> {
  const stored = await put(name, content);
  expect([stored.statusCode, stored.body]).toEqual([201, expect.any(String)]);
  return stored.json();
}

const listFiles = async (): Promise<readonly PoolFile[]> =>
  (await send("GET", `/data-pools/${pool.id}/files`)).json<{ items: readonly PoolFile[] }>().items;
const read = async (fileId: string, headers: Headers = {}) =>
  await send("GET", `${nameFile(fileId)}/content`, { headers });
/** Rows of files that have not ended. */
const listLeft = () =>
  home.database.query({
    text: "select 1 from pool_file where pool_id = $1 and ended_at is null",
    values: [pool.id],
  });
const digest = (content: string) => ({ "repr-digest": `sha-256=:${sha256(content).digest("base64")}:` });
const sha256 = (content: string) => createHash("sha256").update(content);

describe("a data pool", () => {
  test("is created, listed by name, described, renamed and deleted with its files", async () => {
    expect(pool).toMatchObject({ name: "Maps", description: "", fileCount: 0, bytes: 0 });
    await call("POST", "/data-pools", { name: "atlas", description: "Roads" });
    await store("a.json", "{}");
    const listed = (await send("GET", "/data-pools")).json<{ items: readonly DataPool[] }>();
    expect(listed.items.map(({ name, fileCount, bytes }) => [name, fileCount, bytes])).toEqual([
      ["atlas", 0, 0],
      ["Maps", 1, 2],
    ]);
    const changed = await call("PUT", `/data-pools/${pool.id}`, { name: "MAPS", description: "Rivers" });
    expect(changed.json()).toMatchObject({ id: pool.id, name: "MAPS", description: "Rivers", fileCount: 1 });
    expect((await send("DELETE", `/data-pools/${pool.id}`)).statusCode).toBe(204);
    for (const [method, path] of [
      ["GET", `/data-pools/${pool.id}`],
      ["DELETE", `/data-pools/${pool.id}`],
      ["GET", `/data-pools/${pool.id}/files`],
      ["GET", nameFile("a.json")],
    ] as const)
      expect((await send(method, path)).json().code).toBe("NOT_FOUND");
    expect((await put("b.json", "{}")).json().code).toBe("NOT_FOUND");
    expect(await listLeft()).toEqual([]);
  });

  test("is found by a part of its name, and so is an application; both page by page", async () => {
    const other = await createTestUser(here);
    for (const name of ["Straßen", "nightly maps", "50% done"]) {
      await call("POST", "/data-pools", { name });
      await call("POST", "/applications", { name });
    }
    const find = async (path: string, q: string, by = owner, more = "") =>
      (await send("GET", `${path}?q=${encodeURIComponent(q)}${more}`, { by })).json<{
        items: readonly { name: string }[];
        nextCursor: string | null;
      }>();
    const names = async (path: string, q: string, by = owner) =>
      (await find(path, q, by)).items.map(({ name }) => name);
    expect(await names("/data-pools", "MAPS")).toEqual(["Maps", "nightly maps"]);
    expect(await names("/applications", "MAPS")).toEqual(["nightly maps"]);
    for (const path of ["/data-pools", "/applications"]) {
      expect(await names(path, "straßen")).toEqual(["Straßen"]);
      expect(await names(path, "%")).toEqual(["50% done"]);
      expect(await names(path, "maps", other)).toEqual([]);
    }
    const first = await find("/data-pools", "maps", owner, "&limit=1");
    const next = await find(
      "/data-pools",
      "maps",
      owner,
      `&limit=1&cursor=${encodeURIComponent(first.nextCursor ?? "")}`,
    );
    expect([...first.items, ...next.items].map(({ name }) => name)).toEqual(["Maps", "nightly maps"]);
    expect(next.nextCursor).toBeNull();
  });

  test("has a name of its own in the organisation, also of two that are created at once", async () => {
    expect((await call("POST", "/data-pools", { name: "mAPS" })).json().code).toBe("CONFLICT");
    const both = await Promise.all([1, 2].map(() => call("POST", "/data-pools", { name: "new" })));
    expect(both.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)).toEqual([
      201, 409,
    ]);
    const other = both.find(({ statusCode }) => statusCode === 201)?.json<DataPool>();
    expect((await call("PUT", `/data-pools/${other?.id}`, { name: "maps" })).json().code).toBe("CONFLICT");
  });

  test("takes no file while it is deleted: it would stay for ever", async () => {
    const lock = { text: "select 1 from data_pool where id = $1 for update", values: [pool.id] };
    await startAtOnce(home, lock, () => [put("late.json", "{}"), send("DELETE", `/data-pools/${pool.id}`)]);
    expect(await listLeft()).toEqual([]);
  });
});

describe("a file of a data pool", () => {
  test("is found by a part of its name, page by page, and by no name of another pool", async () => {
    const names = ["Berlin52.json", "berlin_a.csv", "Straße.json", "50% done.txt", "zürich berlin.json"];
    for (const name of names) await store(name, "{}");
    const maps = pool;
    pool = (await call("POST", "/data-pools", { name: "Others" })).json();
    await store("berlin of others.json", "{}");
    const find = async (q: string, more = "", by = owner) =>
      (await send("GET", `/data-pools/${maps.id}/files?q=${encodeURIComponent(q)}${more}`, { by })).json<{
        items: readonly PoolFile[];
        nextCursor: string | null;
      }>();
    const named = async (q: string) => (await find(q)).items.map(({ name }) => name);
    expect(await named("BERLIN")).toEqual(["Berlin52.json", "berlin_a.csv", "zürich berlin.json"]);
    expect(await named("STRASSE")).toEqual(["Straße.json"]);
    // No letter stands for others.
    expect([await named("%"), await named("n_a")]).toEqual([["50% done.txt"], ["berlin_a.csv"]]);
    expect(await named("")).toHaveLength(names.length);
    expect(await find("nothing")).toEqual({ items: [], nextCursor: null });
    const first = await find("berlin", "&limit=2");
    const next = await find("berlin", `&limit=2&cursor=${encodeURIComponent(first.nextCursor ?? "")}`);
    expect([first, next].map(({ items }) => items.length)).toEqual([2, 1]);
    expect(next.nextCursor).toBeNull();
    expect(await find("berlin", "", await createTestUser(here))).toMatchObject({ code: "NOT_FOUND" });
    expect(await find("x".repeat(201))).toMatchObject({ code: "INVALID_INPUT" });
  });

  test("has a reference that a start takes, and comes back byte for byte", async () => {
    const stored = await store("berlin52.json", '{"cities": 52}');
    expect(stored).toMatchObject({
      name: "berlin52.json",
      bytes: 14,
      type: "application/json",
      sha256: sha256('{"cities": 52}').digest("hex"),
      createdBy: "Somebody",
      reference: {
        dataPoolId: pool.id,
        dataSourceDescriptorId: stored.dataSourceDescriptorId,
        fileId: stored.fileId,
      },
    });
    expect(await listFiles()).toEqual([stored]);
    expect((await send("GET", nameFile(stored.fileId))).json()).toEqual(stored);
    const whole = await read(stored.fileId);
    expect([whole.statusCode, whole.body, whole.headers["content-disposition"]]).toEqual([
      200,
      '{"cities": 52}',
      expect.stringContaining('filename="berlin52.json"'),
    ]);
    const part = await read(stored.fileId, { range: "bytes=2-7" });
    expect([part.statusCode, part.body]).toEqual([206, "cities"]);
  });

  test.each([
    ["page.html", "text/html", "<script>alert(document.domain)</script>"],
    ["image.svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"],
  ])("%s is saved by a browser, and neither shown nor run", async (name, type, content) => {
    const stored = await put(name, content, { "content-type": type });
    const { fileId } = stored.json<PoolFile>();
    const { headers, body } = await read(fileId);
    expect(body).toBe(content);
    expect(headers).toMatchObject({
      "content-type": type,
      "content-disposition": expect.stringMatching(/^attachment;/u),
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  test("of no bytes, and of the largest size, is one; one byte more is refused and nothing is stored", async () => {
    const empty = await store("empty", "");
    expect([empty.bytes, (await read(empty.fileId)).body]).toEqual([0, ""]);
    const largest = await store("largest", Buffer.alloc(MAX_TEST_FILE, "x"));
    expect((await read(largest.fileId)).rawPayload.byteLength).toBe(MAX_TEST_FILE);
    expect((await put("larger", Buffer.alloc(MAX_TEST_FILE + 1))).json().code).toBe("FILE_TOO_LARGE");
    expect((await listFiles()).map(({ name }) => name)).toEqual(["empty", "largest"]);
  });

  test("takes the place of the one of its name, with an id of its own", async () => {
    const former = await store("data.json", "1");
    const next = await store("DATA.json", "2");
    expect(next).toMatchObject({ name: "DATA.json", dataSourceDescriptorId: former.dataSourceDescriptorId });
    expect(next.fileId).not.toBe(former.fileId);
    expect(await listFiles()).toEqual([next]);
    expect((await read(former.fileId)).json().code).toBe("NOT_FOUND");
    const refused = await put("data.json", "3", { "if-none-match": "*" });
    expect(refused.json().code).toBe("CONFLICT");
    expect((await read(next.fileId)).body).toBe("2");
  });

  test("is renamed, and keeps its ids; not to the name of another one", async () => {
    const file = await store("old.json", "{}");
    await store("other.json", "{}");
    const rename = (name: string) => call("PUT", `${nameFile(file.fileId)}/name`, { name });
    expect((await rename("new.json")).json()).toEqual({ ...file, name: "new.json" });
    expect((await rename("OTHER.json")).json().code).toBe("CONFLICT");
    expect((await rename("a/b")).json().code).toBe("INVALID_INPUT");
    expect((await send("DELETE", nameFile(file.fileId))).statusCode).toBe(204);
    expect((await rename("again.json")).json().code).toBe("NOT_FOUND");
  });

  test.each(["a/b", "x\0y", "x".repeat(300), "\u202egpj.exe", " a", "a."])(
    "is not named %j",
    async (name) => {
      expect((await put(name, "{}")).json().code).toMatch(/^(INVALID_INPUT|NOT_FOUND)$/u);
      expect(await listFiles()).toEqual([]);
    },
  );

  test("arrives as its digest says, or not at all", async () => {
    expect((await put("a.json", "{}", digest("{}"))).statusCode).toBe(201);
    expect((await put("b.json", "{", digest("{}"))).json().code).toBe("CHECKSUM_MISMATCH");
    expect((await put("b.json", "{}", { "repr-digest": "sha-256=:abc:" })).json().code).toBe("INVALID_INPUT");
    expect(await listFiles()).toHaveLength(1);
  });

  test("has the type that its sender names, if it is one", async () => {
    for (const [given, kept] of [
      ["text/csv; charset=utf-8", "text/csv; charset=utf-8"],
      ["text/csv; charset=\u00e4", "application/octet-stream"],
    ] as const)
      expect((await put("file", "x", { "content-type": given })).json()).toMatchObject({ type: kept });
  });

  test("counts for what the organisation may store: of two at once that fit only singly one is stored", async () => {
    const half = TEST_POOL_BYTES / 2 - MAX_TEST_FILE + 1;
    await store("a", Buffer.alloc(MAX_TEST_FILE));
    await store("b", Buffer.alloc(MAX_TEST_FILE - half));
    const other = (await call("POST", "/data-pools", { name: "second" })).json<DataPool>();
    const lock = {
      text: "select 1 from data_pool where id in ($1, $2) for update",
      values: [pool.id, other.id],
    };
    const big = Buffer.alloc(MAX_TEST_FILE);
    const answers = await startAtOnce(home, lock, () => [
      send("PUT", `/data-pools/${pool.id}/files/c`, { payload: big }),
      send("PUT", `/data-pools/${other.id}/files/c`, { payload: big }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)).toEqual([
      201, 429,
    ]);
    expect(answers.find(({ statusCode }) => statusCode === 429)?.json()).toMatchObject({
      code: "QUOTA_EXCEEDED",
      detail: expect.stringContaining("may hold 0.00 GB"),
    });
  });

  test("of another organisation is as one that there is not", async () => {
    const file = await store("mine.json", "{}");
    const stranger = await createTestUser(here);
    const unknown = "00000000-0000-4000-8000-000000000000";
    for (const [method, path] of [
      ["GET", `/data-pools/{pool}`],
      ["DELETE", `/data-pools/{pool}`],
      ["GET", `/data-pools/{pool}/files`],
      ["PUT", `/data-pools/{pool}/files/new.json`],
      ["GET", `/data-pools/{pool}/files/${file.fileId}`],
      ["GET", `/data-pools/{pool}/files/${file.fileId}/content`],
      ["DELETE", `/data-pools/{pool}/files/${file.fileId}`],
    ] as const) {
      const ask = (id: string) => send(method, path.replace("{pool}", id), { by: stranger });
      const [foreign, none] = [await ask(pool.id), await ask(unknown)];
      expect([foreign.statusCode, foreign.body]).toEqual([404, none.body]);
    }
    const { organisationId, userId: createdBy } = stranger;
    const { sha256: hash, type: mediaType } = file;
    const given = { name: "new.json", bytes: 2, hash, mediaType, createdBy, mayReplace: true };
    expect(await here.stores.poolFiles.put({ ...given, organisationId, poolId: pool.id })).toBeNull();
    expect(await listFiles()).toEqual([file]);
  });
});
