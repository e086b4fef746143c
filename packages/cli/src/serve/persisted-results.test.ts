import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
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
import type { Outcome, OutputFile } from "@platform/engine/python/port/runtime";
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

const pinOutput = (dataPoolId: string) =>
  createLocalTargets(root).pin({ dataPoolId }, OWNER, "/params/tours");

test("an output pool that there is not is refused, at its place in the input", async () => {
  await expect(pinOutput(createUuidV7())).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    errors: [{ path: "/params/tours" }],
  });
  expect(await pinOutput(await idOfPool())).toEqual({
    dataPoolId: await idOfPool(),
    name: null,
    userId: null,
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

/** Of a claim that writes to the pool. */
const writing = async (dataPoolId: string) => ({
  ...(await claim("result.json")),
  outputPool: { path: ["params", "tours"], dataPoolId, userId: null },
});

/** What a run has left for the pool, kept as the worker does. */
async function leave(contents: Readonly<Record<string, string>>): Promise<Outcome> {
  const poolFiles: OutputFile[] = [];
  for (const [name, text] of Object.entries(contents)) {
    const content = await results.receive(Readable.from(text === "" ? [] : [Buffer.from(text)]), 1000);
    await content.keep();
    poolFiles.push({ name, content });
  }
  const output = { result: null, files: [], poolFiles };
  return { status: "SUCCEEDED", result: Buffer.from(RESULT), metadata: null, output };
}

const readAll = async () =>
  Object.fromEntries(
    await Promise.all((await namesIn()).map(async (name) => [name, await readFile(pathOf(name), "utf8")])),
  );

test("files of a run are in its output pool beside its result, a file of the name keeps its ids and case, and the metadata name all", async () => {
  await writeFile(pathOf("Tour.csv"), "old");
  const before = (await readPools(root)).pools[0]?.files[0];
  const running = await writing(await idOfPool());
  expect(await store.finish(running, await leave({ "tour.CSV": "a,b", empty: "" }))).toBe(true);
  expect(await readAll()).toEqual({ "Tour.csv": "a,b", empty: "", "result.json": RESULT });
  const referenceOf = new Map(
    (await readPools(root)).pools[0]?.files.map(({ name, reference }) => [name, reference]),
  );
  expect(referenceOf.get("Tour.csv")).toEqual(before?.reference);
  expect(await readPersisted(running.id)).toEqual({
    name: "result.json",
    reference: referenceOf.get("result.json"),
    pools: {
      "/params/tours": {
        dataPoolId: await idOfPool(),
        files: ["Tour.csv", "empty"].map((name) => ({ name, reference: referenceOf.get(name) })),
      },
    },
  });
});

test("of files of which one cannot have its name none is stored: what was there is as it was, links as well", async () => {
  await writeFile(pathOf("a.csv"), "old");
  await writeFile(join(folder, "outside.csv"), "mine");
  await symlink("../../outside.csv", pathOf("link.csv"));
  await mkdir(pathOf("taken"));
  const running = await writing(await idOfPool());
  expect(
    await store.finish(
      running,
      await leave({ "a.csv": "new", "b.csv": "new", "link.csv": "new", taken: "" }),
    ),
  ).toBe(true);
  expect(await readPersisted(running.id)).toEqual({
    reference: expect.anything(),
    name: "result.json",
    pools: {
      "/params/tours": {
        dataPoolId: await idOfPool(),
        code: "UNAVAILABLE",
        detail: expect.stringContaining("EISDIR"),
      },
    },
  });
  expect(await namesIn()).toEqual(["a.csv", "link.csv", "result.json", "taken"]);
  expect(await readFile(pathOf("a.csv"), "utf8")).toBe("old");
  expect(await readlink(pathOf("link.csv"))).toBe("../../outside.csv");
  expect(await readFile(join(folder, "outside.csv"), "utf8")).toBe("mine");
});

test("of files of which the content of one is gone none is stored", async () => {
  const running = await writing(await idOfPool());
  const outcome = await leave({ "a.csv": "1" });
  const lost = await results.receive(Readable.from([Buffer.from("lost")]), 100);
  if (outcome.status !== "SUCCEEDED") throw new Error("it succeeds");
  const poolFiles = [...(outcome.output?.poolFiles ?? []), { name: "b.csv", content: lost }];
  await store.finish(running, { ...outcome, output: { result: null, files: [], poolFiles } });
  expect(await readPersisted(running.id)).toMatchObject({
    pools: { "/params/tours": { code: "UNAVAILABLE" } },
  });
  expect(await namesIn()).toEqual(["result.json"]);
});

test("a link in the place of a file gets its content itself, and what it leads to stays", async () => {
  await writeFile(join(folder, "outside.csv"), "mine");
  await symlink("../../outside.csv", pathOf("link.csv"));
  await store.finish(await writing(await idOfPool()), await leave({ "link.csv": "new" }));
  expect(await readAll()).toEqual({ "link.csv": "new", "result.json": RESULT });
  expect((await lstat(pathOf("link.csv"))).isFile()).toBe(true);
  expect(await readFile(join(folder, "outside.csv"), "utf8")).toBe("mine");
});

test("an output pool that becomes a link while the execution runs gets no file, nor does what it leads to; a failure stores none", async () => {
  const id = await idOfPool();
  const [running, failing] = [await writing(id), await writing(id)];
  await store.finish(failing, { status: "FAILED", code: "EXECUTION_ERROR", detail: "no" });
  expect(await namesIn()).toEqual([]);
  await rm(join(root, "Maps"), { recursive: true });
  await mkdir(join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), join(root, "Maps"));
  await store.finish(running, await leave({ "a.csv": "1" }));
  expect(await readPersisted(running.id)).toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    pools: { "/params/tours": { dataPoolId: id, code: "DATA_REFERENCE_INVALID" } },
  });
  expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
});
