import { mkdir, mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { HOUR } from "@platform/engine/base/time";
import { createFolderResults } from "@platform/engine/content/folder-results";
import type { ResultStore } from "@platform/engine/content/result-store";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import { toJobOwner } from "@platform/engine/store/owner";
import { createLocalTargets, persistLocally } from "./persisted-results.ts";
import { readPools } from "./pool-folder.ts";

const OWNER = toJobOwner("local");
const RESULT = '{"length": 7542}';

let folder: string;
let root: string;
let results: ResultStore;
let store: ExecutionStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-persisted-"));
  root = join(folder, "pools");
  await mkdir(join(root, "Maps"), { recursive: true });
  results = createFolderResults(join(folder, "results"));
  store = persistLocally(createMemoryStore(), { root, results });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const pathOf = (name: string) => join(root, "Maps", name);
const idOfPool = async () => (await readPools(root)).pools[0]?.id ?? "";
const namesIn = async () => (await readdir(join(root, "Maps"))).toSorted();

/** Starts an execution that stores its result there, and claims it. */
async function claim(name?: string) {
  const target = { dataPoolId: await idOfPool(), ...(name === undefined ? {} : { name }) };
  await store.create({
    id: createUuidV7(),
    owner: OWNER,
    versionId: createUuidV7(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
    persistTo: await createLocalTargets(root).pin(target, OWNER),
  });
  const { claims } = await store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 1, memory: 1 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  });
  const [claimed] = claims;
  if (claimed === undefined) throw new Error("nothing to claim");
  return claimed;
}

/** Ends it, and what its metadata say. */
async function finish(claimed: Awaited<ReturnType<typeof claim>>, result = RESULT) {
  const ended = await store.finish(claimed, {
    status: "SUCCEEDED",
    result: Buffer.from(result),
    metadata: Buffer.from('{"by":"me"}'),
  });
  expect(ended).toBe(true);
  return await readPersisted(claimed.id);
}

async function readPersisted(id: string) {
  const stored = await store.readResult(id, OWNER.id);
  const { _persisted: persisted } = JSON.parse(String(stored?.metadata)) as {
    readonly _persisted: Readonly<Record<string, unknown>>;
  };
  return persisted;
}

test("a result becomes a file of the pool, which its metadata name by the ids that the file has from then on", async () => {
  const claimed = await claim();
  expect(await namesIn()).toEqual([]);
  const persisted = await finish(claimed);
  const name = `${claimed.id}.json`;
  const { pools } = await readPools(root);
  expect(persisted).toEqual({ reference: pools[0]?.files[0]?.reference, name });
  expect(await readFile(pathOf(name), "utf8")).toBe(RESULT);
  expect(await namesIn()).toEqual([name]);
});

test("a result that is no row is copied from where it is kept", async () => {
  const text = JSON.stringify({ text: "x".repeat(3_000_000) });
  const content = await results.receive(Readable.from([Buffer.from(text)]), 4_000_000);
  await content.keep();
  const claimed = await claim("large.json");
  await store.finish(claimed, {
    status: "SUCCEEDED",
    result: Buffer.alloc(0),
    metadata: null,
    output: { result: content, files: [] },
  });
  expect(await readPersisted(claimed.id)).toMatchObject({ name: "large.json" });
  expect(await readFile(pathOf("large.json"), "utf8")).toBe(text);
});

test("a result that cannot be read any more leaves the file that has its name as it was", async () => {
  await writeFile(pathOf("tour.json"), "before");
  const content = await results.receive(Readable.from([Buffer.from(RESULT)]), 100);
  const claimed = await claim("tour.json");
  // It was never kept.
  const output = { result: content, files: [] };
  await store.finish(claimed, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata: null, output });
  expect(await readPersisted(claimed.id)).toMatchObject({ code: "UNAVAILABLE" });
  expect(await readFile(pathOf("tour.json"), "utf8")).toBe("before");
  expect(await namesIn()).toEqual(["tour.json"]);
});

async function failAtOnce(): Promise<Readable> {
  const content = new Readable({ read: () => undefined });
  setImmediate(() => content.destroy(new Error("gone")));
  return content;
}

test("a result whose content fails at once ends no server", async () => {
  store = persistLocally(createMemoryStore(), { root, results: { read: failAtOnce } });
  const output = { result: await results.receive(Readable.from([Buffer.from(RESULT)]), 100), files: [] };
  const claimed = await claim("tour.json");
  await store.finish(claimed, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata: null, output });
  expect(await readPersisted(claimed.id)).toMatchObject({ code: "UNAVAILABLE" });
  expect(await namesIn()).toEqual([]);
});

test("a file of the name is replaced as a whole, keeps its ids and its upper and lower case, and a link is not followed", async () => {
  await writeFile(pathOf("Tour.json"), "{}");
  await writeFile(join(folder, "outside.json"), "mine");
  await symlink("../../outside.json", pathOf("link.json"));
  const before = (await readPools(root)).pools;
  const persisted = await finish(await claim("tour.JSON"));
  expect(persisted).toEqual({ reference: before[0]?.files[0]?.reference, name: "Tour.json" });
  expect(await readFile(pathOf("Tour.json"), "utf8")).toBe(RESULT);
  expect(await finish(await claim("link.json"))).toMatchObject({ name: "link.json" });
  expect(await readFile(join(folder, "outside.json"), "utf8")).toBe("mine");
  expect(await namesIn()).toEqual(["Tour.json", "link.json"]);
});

test("of results that are stored at once under names that differ by case there is one file", async () => {
  const claims = [await claim("a.json"), await claim("A.json"), await claim("a.JSON")];
  const said = await Promise.all(claims.map((claimed) => finish(claimed)));
  expect(await namesIn()).toEqual(["a.json"]);
  expect(new Set(said.map(({ name }) => name))).toEqual(new Set(["a.json"]));
});

test("an execution that fails stores nothing", async () => {
  const claimed = await claim();
  await store.finish(claimed, { status: "FAILED", code: "EXECUTION_ERROR", detail: "no" });
  expect(await namesIn()).toEqual([]);
  expect(await store.find(claimed.id, OWNER.id)).toMatchObject({ status: "FAILED" });
});

test("a pool that is a link, or that there is not, is refused like one that may not be changed", async () => {
  const pin = (dataPoolId: string) => createLocalTargets(root).pin({ dataPoolId }, OWNER);
  const id = "44444444-4444-4444-8444-444444444444";
  await mkdir(join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), join(root, id));
  for (const wrong of [id, createUuidV7(), "../Maps"])
    await expect(pin(wrong)).rejects.toMatchObject({
      code: "DATA_REFERENCE_INVALID",
      errors: [{ path: "/persistTo" }],
    });
});

test("a pool that becomes a link while the execution runs gets no file, and neither does what it leads to", async () => {
  const claimed = await claim("tour.json");
  await rm(join(root, "Maps"), { recursive: true });
  await mkdir(join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), join(root, "Maps"));
  expect(await finish(claimed)).toMatchObject({ code: "DATA_REFERENCE_INVALID" });
  expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
});

// Not even root makes a file there, and no right that it has changes that.
test.runIf(process.platform === "linux")(
  "a pool that cannot be written to is refused before the execution, and the detail says why",
  async () => {
    const { pools } = await readPools("/proc/sys");
    const pool = pools.find(({ name }) => name === "vm");
    const pinned = createLocalTargets("/proc/sys").pin({ dataPoolId: pool?.id ?? "" }, OWNER);
    await expect(pinned).rejects.toMatchObject({
      code: "DATA_REFERENCE_INVALID",
      message: expect.stringMatching(/^\/proc\/sys\/vm cannot be written to \(E\w+\)\.$/u),
      errors: [{ path: "/persistTo" }],
    });
  },
);

test("an output pool is refused, at its place in the input", async () => {
  const pinning = createLocalTargets(root).pin({ dataPoolId: await idOfPool() }, OWNER, "/params/tours");
  await expect(pinning).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    errors: [{ path: "/params/tours" }],
  });
});

test("a name that the local server would not look at is refused", async () => {
  await expect(claim(".hidden.json")).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    errors: [{ path: "/persistTo/name" }],
  });
});

test("a name that a folder has gets no file, the execution succeeds and says so, and nothing is left", async () => {
  await mkdir(pathOf("taken.json"));
  const claimed = await claim("taken.json");
  expect(await finish(claimed)).toEqual({
    code: "UNAVAILABLE",
    detail: expect.stringContaining("EISDIR"),
  });
  expect(await store.find(claimed.id, OWNER.id)).toMatchObject({ status: "SUCCEEDED" });
  expect(await namesIn()).toEqual(["taken.json"]);
});

test("what a killed server has left of a file goes with the next one; what another one writes stays", async () => {
  const [old, fresh] = [createUuidV7(), createUuidV7()].map((id) => `.${id}.part`);
  for (const part of [old, fresh, ".notes"]) await writeFile(pathOf(String(part)), "half");
  const past = new Date(Date.now() - 2 * HOUR);
  for (const part of [old, ".notes"]) await utimes(pathOf(String(part)), past, past);
  await finish(await claim("tour.json"));
  expect(new Set(await namesIn())).toEqual(new Set([".notes", fresh, "tour.json"]));
});
