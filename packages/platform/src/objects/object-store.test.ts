import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createObjectStore, ObjectTooLarge } from "./object-store.ts";

describe("the object store", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "objects-"));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const listFiles = async () =>
    (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

  test("names content by its SHA-256 and gives it back", async () => {
    const store = createObjectStore(directory);
    const stored = await store.receive(Readable.from([Buffer.from("hel"), Buffer.from("lo")]), 5);
    expect(stored).toMatchObject({
      hash: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      bytes: 5,
    });
    expect(await store.exists(stored.hash)).toBe(false);
    await stored.keep();
    await stored.drop();
    expect(await text(await store.open(stored.hash))).toBe("hello");
    expect(await readFile(await store.locate(stored.hash), "utf8")).toBe("hello");
    expect(await store.exists(stored.hash)).toBe(true);
  });

  test("keeps equal content once, also when it comes twice at the same time", async () => {
    const store = createObjectStore(directory);
    const received = await Promise.all([
      store.receive(Readable.from(["same"]), 9),
      store.receive(Readable.from(["same"]), 9),
    ]);
    expect(new Set(received.map(({ hash }) => hash)).size).toBe(1);
    await Promise.all(received.map((object) => object.keep()));
    expect(await listFiles()).toHaveLength(1);
  });

  test("refuses content beyond the limit, keeps nothing of it, and leaves the source open for an answer", async () => {
    const store = createObjectStore(directory);
    const source = Readable.from([Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(4)]);
    await expect(store.receive(source, 7)).rejects.toThrow(ObjectTooLarge);
    expect(source.destroyed).toBe(false);
    expect(await listFiles()).toHaveLength(0);
    source.destroy();
  });

  test("keeps nothing of what was received and dropped", async () => {
    const store = createObjectStore(directory);
    const received = await store.receive(Readable.from(["unwanted"]), 9);
    expect(await readFile(received.path, "utf8")).toBe("unwanted");
    await received.drop();
    expect(await listFiles()).toHaveLength(0);
  });

  test("keeps nothing of an upload that breaks off", async () => {
    const store = createObjectStore(directory);
    const source = Readable.from(
      (async function* () {
        yield Buffer.from("half");
        throw new Error("cut off");
      })(),
    );
    await expect(store.receive(source, 100)).rejects.toThrow("cut off");
    expect(await listFiles()).toHaveLength(0);
  });

  test("takes nothing but a hash as a name", async () => {
    const store = createObjectStore(directory);
    await expect(store.locate("../../etc/passwd")).rejects.toThrow("SHA-256");
    expect(await store.exists("../../etc/passwd")).toBe(false);
  });
});
