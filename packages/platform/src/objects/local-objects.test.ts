import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { testObjectStore } from "../testing/object-conformance.ts";
import { INCOMING, createLocalObjects } from "./local-objects.ts";
import { StoreFull } from "./object-store.ts";

testObjectStore("the object store on local disk", async (folder) => {
  const directory = join(folder, "objects");
  return {
    store: createLocalObjects(directory),
    other: createLocalObjects(directory),
    listIncoming: () => readdir(join(directory, INCOMING)).catch(() => []),
    close: async () => undefined,
  };
});

test("what is received is written while it comes, and not held in memory", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objects-"));
  const chunk = Buffer.alloc(64 * 1_024);
  const held: number[] = [];
  async function* produce() {
    for (let given = 0; given < 32 * MEGABYTE; given += chunk.length) {
      const [name] = await readdir(join(directory, INCOMING));
      const written = name === undefined ? 0 : (await stat(join(directory, INCOMING, name))).size;
      held.push(given - written);
      yield chunk;
    }
  }
  try {
    const received = await createLocalObjects(directory).receive(Readable.from(produce()), 32 * MEGABYTE);
    await received.drop();
    expect(received.bytes).toBe(32 * MEGABYTE);
    // One group, and what a stream reads ahead.
    expect(Math.max(...held)).toBeLessThanOrEqual(4 * MEGABYTE);
  } finally {
    await rm(directory, { recursive: true });
  }
});

const produceMegabytes = (count: number) => Readable.from(Array(count).fill(Buffer.alloc(MEGABYTE)));

test("content that leaves too little of the disk free is refused while it comes, and nothing of it is left", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objects-"));
  try {
    const store = createLocalObjects(directory, Number.MAX_SAFE_INTEGER);
    const large = produceMegabytes(32);
    await expect(store.receive(large, Infinity)).rejects.toThrow(StoreFull);
    expect(large.destroyed).toBe(false);
    expect(await readdir(join(directory, INCOMING))).toEqual([]);
    // What is small hardly changes it, and may be what ends something else.
    await expect(store.receive(produceMegabytes(1), Infinity)).resolves.toMatchObject({ bytes: MEGABYTE });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test.each([
  ["links to content on the same file system", tmpdir(), true],
  ["copies it to another one", "/dev/shm", false],
])("%s", async (_what, target, isLinked) => {
  const directory = await mkdtemp(join(tmpdir(), "objects-"));
  const away = await mkdtemp(join(target, "fetched-"));
  try {
    const store = createLocalObjects(directory);
    const received = await store.receive(Readable.from(["content"]), 7);
    await received.keep();
    // As long as a file of a data pool may be called.
    const name = "x".repeat(255);
    const path = join(away, name);
    await store.fetchTo(received.hash, path);
    expect((await stat(path)).nlink).toBe(isLinked ? 2 : 1);
    expect((await stat(path)).mode & 0o777).toBe(0o444);
    expect(await readdir(away)).toEqual([name]);
  } finally {
    await rm(directory, { recursive: true });
    await rm(away, { recursive: true });
  }
});
