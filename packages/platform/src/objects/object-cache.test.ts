import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { DAY } from "@platform/engine/base/time";
import { removeUnusedCached } from "./cache-files.ts";
import { createLocalObjects } from "./local-objects.ts";
import { openObjectCache } from "./object-cache.ts";
import type { ObjectCache } from "./object-cache.ts";
import { ObjectMissing, StoreFull, StoreUnavailable } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";

const MEMBER = new URL("../testing/cache-member.ts", import.meta.url).pathname;

let folder: string;
let directory: string;
let store: ObjectStore;
let opened: ObjectCache[];
/** What was fetched from the store. */
let fetched: string[];
/** Hears of a fetch before it is done. */
let onFetch: (path: string) => Promise<void>;
/** What is held goes on when it is aborted. */
let held: AbortController;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cache-"));
  directory = join(folder, "cache");
  store = createLocalObjects(join(folder, "store"));
  [opened, fetched] = [[], []];
  onFetch = async () => undefined;
  held = new AbortController();
});
afterEach(async () => {
  held.abort();
  for (const cache of opened) await cache.close();
  const left = await readdir(join(directory, "incoming")).catch(() => []);
  if (left.length > 0) throw new Error("A cache that was closed has left a folder.");
  await rm(folder, { recursive: true });
});

/** As a store on another machine: what it gives is a file of its own. */
async function fetchTo(hash: string, path: string): Promise<void> {
  fetched.push(hash);
  await onFetch(path);
  const chunks: Buffer[] = [];
  for await (const chunk of await store.read(hash)) chunks.push(chunk as Buffer);
  await writeFile(path, Buffer.concat(chunks), { flag: "wx" });
  await chmod(path, 0o444);
}

async function open(maxBytes = 16 * MEGABYTE): Promise<ObjectCache> {
  const cache = await openObjectCache({ directory, maxBytes, fetchTo });
  opened.push(cache);
  return cache;
}

async function keep(content: string | Uint8Array): Promise<string> {
  const received = await store.receive(Readable.from([content]), content.length);
  await received.keep();
  return received.hash;
}

const pathOf = (hash: string) => join(directory, hash.slice(0, 2), hash);
const place = () => join(folder, randomUUID());

/** The content of an object through a cache; what was made for it is removed again. */
async function read(cache: ObjectCache, hash: string): Promise<string> {
  const path = place();
  await cache.fetchTo(hash, path);
  const content = await readFile(path, "utf8");
  await rm(path);
  return content;
}

async function listCached(): Promise<readonly string[]> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  return names.map((name) => name.slice(3)).filter((name) => /^[0-9a-f]{64}$/u.test(name));
}

describe("a cache of objects", () => {
  test("fetches an object once, also for another process and after a restart, as a file that only can be read", async () => {
    const hash = await keep("content");
    const cache = await open();
    for (const reader of [cache, cache, await open()]) expect(await read(reader, hash)).toBe("content");
    expect(fetched).toEqual([hash]);
    expect((await stat(pathOf(hash))).mode & 0o777).toBe(0o444);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test("fetches once what many want at the same time, and fails for all of them together", async () => {
    const hash = await keep("content");
    const cache = await open();
    const all = await Promise.all(Array.from({ length: 20 }, () => read(cache, hash)));
    expect(new Set(all)).toEqual(new Set(["content"]));
    expect(fetched).toEqual([hash]);
    onFetch = () => Promise.reject(new StoreUnavailable("away"));
    const other = await keep("other");
    const failed = await Promise.allSettled(Array.from({ length: 20 }, () => read(cache, other)));
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(fetched).toEqual([hash, other]);
    onFetch = async () => undefined;
    expect(await read(cache, other)).toBe("other");
  });

  test("keeps what was used last, and no more than it may", async () => {
    const cache = await open(10 * MEGABYTE);
    const hashes: string[] = [];
    for (let index = 0; index < 20; index++) {
      const hash = await keep(Buffer.alloc(MEGABYTE, `${index} `));
      hashes.push(hash);
      await read(cache, hash);
      // Used again and again, and not read: a file system may note that itself.
      const path = place();
      await cache.fetchTo(hashes[0] ?? "", path);
      await rm(path);
    }
    await cache.close();
    const cached = await listCached();
    expect(cached.length).toBeGreaterThan(5);
    expect(cached.length).toBeLessThanOrEqual(10);
    expect(cached).toEqual(expect.arrayContaining([hashes[0], hashes.at(-1)]));
    expect(fetched).toEqual(hashes);
  });

  test("does not keep what is larger than all of it, and gives it out", async () => {
    const [hash, small] = [await keep(Buffer.alloc(2 * MEGABYTE, "x")), await keep("small")];
    const cache = await open(MEGABYTE);
    await read(cache, small);
    const all = await Promise.all([read(cache, hash), read(cache, hash)]);
    expect(all.map(({ length }) => length)).toEqual([2 * MEGABYTE, 2 * MEGABYTE]);
    expect(fetched).toEqual([small, hash]);
    await cache.close();
    expect(await listCached()).toEqual([small]);
  });

  test("fetches again what another process removes before it was given out", async () => {
    const hash = await keep("content");
    const bucket = await openObjectCache({
      directory,
      maxBytes: MEGABYTE,
      fetchTo: async (name, path) => {
        await fetchTo(name, path);
        if (fetched.length === 1) await rm(path);
      },
    });
    opened.push(bucket);
    expect(await read(bucket, hash)).toBe("content");
    expect(fetched).toEqual([hash, hash]);
  });

  test("leaves what it has given out where it is, whatever becomes of its own", async () => {
    const hash = await keep("content");
    const cache = await open();
    const path = place();
    await cache.fetchTo(hash, path);
    await cache.forget(hash);
    expect(await readFile(path, "utf8")).toBe("content");
    await store.remove(hash);
    await expect(cache.fetchTo(hash, place())).rejects.toThrow(ObjectMissing);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ["has other content", (path) => rewrite(path, "CONTENT")],
    ["was cut off", (path) => rewrite(path, "cont")],
    ["can be written by others", (path) => chmod(path, 0o666)],
  ])("believes no file that another process left there and that %s", async (_what, damage) => {
    const hash = await keep("content");
    await read(await open(), hash);
    await damage(pathOf(hash));
    expect(await read(await open(), hash)).toBe("content");
    expect(fetched).toEqual([hash, hash]);
    expect((await stat(pathOf(hash))).mode & 0o777).toBe(0o444);
  });

  test("notices a file that was replaced since it was looked at", async () => {
    const hash = await keep("content");
    const cache = await open();
    await read(cache, hash);
    await rm(pathOf(hash));
    await writeFile(pathOf(hash), "CONTENT", { mode: 0o444 });
    expect(await read(cache, hash)).toBe("content");
  });

  test("removes at its start what a process that was killed had begun to fetch, and nothing of one that lives", async () => {
    const hash = await keep("content");
    const begun: Promise<void>[] = [];
    let paths: string[] = [];
    onFetch = async (path) => {
      paths = [...paths, path];
      await once(held.signal, "abort");
    };
    const living = await open();
    begun.push(living.fetchTo(hash, join(folder, "fetched")));
    const member = spawn(execPath, [MEMBER, directory, hash], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void member.kill("SIGKILL"));
    const gone = once(member, "exit");
    await once(member.stdout, "data");
    expect(await readdir(join(directory, "incoming"))).toHaveLength(2);
    await open();
    expect(await readdir(join(directory, "incoming"))).toHaveLength(2);
    member.kill("SIGKILL");
    await gone;
    await open();
    expect(await readdir(join(directory, "incoming"))).toHaveLength(1);
    held.abort();
    await Promise.all(begun);
    expect(await readFile(join(folder, "fetched"), "utf8")).toBe("content");
    expect(paths).toHaveLength(1);
  });

  test("gives the right content while two processes remove from it what the other wants", async () => {
    const contents = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(8_192));
    const hashes = await Promise.all(contents.map(keep));
    const caches = [await open(4 * 8_192), await open(4 * 8_192)];
    const readers = Array.from({ length: 200 }, async (_, index) => {
      const at = (index * 7) % contents.length;
      const content = await read(caches[index % 2] ?? (await open()), hashes[at] ?? "");
      expect(content === contents[at]).toBe(true);
    });
    await Promise.all(readers);
  });

  test("gives its room first where the disk is full, and is not needed where that does not help", async () => {
    const [old, next] = [await keep("old"), await keep("next")];
    const cache = await open();
    await read(cache, old);
    const used = place();
    const inUse = await keep("in use");
    await cache.fetchTo(inUse, used);
    // There is room as soon as the cache has given some.
    onFetch = async () => {
      if ((await listCached()).includes(old)) throw new StoreFull({ cause: "the disk" });
    };
    expect(await read(cache, next)).toBe("next");
    expect(await listCached()).toEqual([inUse]);
    onFetch = () => Promise.reject(new StoreFull({ cause: "the disk" }));
    await expect(read(cache, old)).rejects.toThrow(StoreFull);
    onFetch = async () => undefined;
    expect(await read(cache, old)).toBe("old");
  });

  test("is not needed where its folder cannot be made", async () => {
    await writeFile(directory, "no folder");
    const hash = await keep("content");
    expect(await read(await open(), hash)).toBe("content");
    await rm(directory);
  });

  test("gives as much room as is wanted, of what was used least recently", async () => {
    const cache = await open();
    const hashes: string[] = [];
    for (const name of ["a", "b", "c"]) {
      const hash = await keep(Buffer.alloc(MEGABYTE, name));
      hashes.push(hash);
      await read(cache, hash);
    }
    for (const [index, hash] of hashes.entries()) await age(pathOf(hash), 3 - index);
    await cache.giveRoom(MEGABYTE + 1);
    expect(await listCached()).toEqual([hashes[2]]);
  });

  test("loses what was not used for long", async () => {
    const cache = await open();
    const [old, young] = [await keep("old"), await keep("young")];
    for (const hash of [old, young]) await read(cache, hash);
    await age(pathOf(old), 15);
    expect(await removeUnusedCached(directory, Date.now() - 14 * DAY)).toBe(1);
    expect(await listCached()).toEqual([young]);
  });
});

/** Sets the last use back. */
async function age(path: string, days: number): Promise<void> {
  await utimes(path, new Date(Date.now() - days * DAY), (await stat(path)).mtime);
}

/** As root, or by who owns it. */
async function rewrite(path: string, content: string): Promise<void> {
  const { atime, mtime } = await stat(path);
  await chmod(path, 0o644);
  await writeFile(path, content);
  await chmod(path, 0o444);
  await utimes(path, atime, mtime);
  expect(createHash("sha256").update(content).digest("hex")).not.toBe(path.slice(-64));
}
