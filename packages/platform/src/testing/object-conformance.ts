import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { ObjectMissing, ObjectTooLarge } from "../objects/object-store.ts";
import type { ListedObject, ObjectStore } from "../objects/object-store.ts";

/** A store of its own for each test, and what is left of it besides objects. */
export interface TestObjects {
  readonly store: ObjectStore;
  /** A second process on the same store. */
  readonly other: ObjectStore;
  /** Files of content that was received and is no object. */
  readonly listIncoming: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const UNKNOWN = "f".repeat(64);
const NO_HASHES = ["", "../../etc/passwd", "F".repeat(64), "f".repeat(63), `${"f".repeat(64)}\n`];
const SIZES = [0, 1, MEGABYTE - 1, MEGABYTE, 3 * MEGABYTE + 17];

function nameHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Every object store does this. `folder`: on this machine, on the file system of what it receives. */
export function testObjectStore(name: string, open: (folder: string) => Promise<TestObjects>): void {
  describe(`${name} keeps content`, () => {
    let folder: string;
    let objects: TestObjects;
    let store: ObjectStore;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "objects-"));
      objects = await open(folder);
      store = objects.store;
    });
    afterEach(async () => {
      await objects?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const place = () => join(folder, `fetched-${randomUUID()}`);
    const keep = async (content: string | Uint8Array) => {
      const received = await store.receive(Readable.from([content]), content.length);
      await received.keep();
      await received.drop();
      return received.hash;
    };
    const listAll = async () => {
      const all: ListedObject[] = [];
      for await (const object of store.list()) all.push(object);
      return all;
    };
    const listHashes = async () => (await listAll()).map(({ hash }) => hash).toSorted();

    test("names content by its SHA-256, and shows it when it is kept", async () => {
      const chunks = [Buffer.from("hel"), "lo"];
      const received = await store.receive(Readable.from(chunks), 5);
      expect(received).toMatchObject({ hash: nameHash("hello"), bytes: 5 });
      expect(await readFile(received.path, "utf8")).toBe("hello");
      expect(await store.has(received.hash)).toBe(false);
      expect(await listHashes()).toEqual([]);
      await expect(store.read(received.hash)).rejects.toThrow(ObjectMissing);
      await received.keep();
      // Asked for again, when it was not known whether it was.
      await received.keep();
      await received.drop();
      expect(await text(await objects.other.read(received.hash))).toBe("hello");
      expect(await objects.other.has(received.hash)).toBe(true);
      expect(await objects.listIncoming()).toEqual([]);
    });

    test.each(SIZES)("gives %d bytes back as they were", async (bytes) => {
      const content = Buffer.alloc(bytes, "0123456789abcdef!");
      const hash = await keep(content);
      expect(hash).toBe(nameHash(content));
      expect(nameHash(await buffer(await store.read(hash)))).toBe(hash);
      const path = place();
      await store.fetchTo(hash, path);
      expect(nameHash(await readFile(path))).toBe(hash);
      expect(await listAll()).toMatchObject([{ hash, bytes }]);
    });

    test("takes a file that has its content already, and leaves no file behind", async () => {
      const path = place();
      await writeFile(path, "taken", { mode: 0o600 });
      const given = { hash: nameHash("taken"), bytes: 5, path };
      const taken = store.take(given);
      expect(await store.has(given.hash)).toBe(false);
      await taken.keep();
      await taken.drop();
      expect(await text(await objects.other.read(given.hash))).toBe("taken");
      await expect(stat(path)).rejects.toThrow("ENOENT");
    });

    test("gives every part of an object", async () => {
      const hash = await keep("0123456789");
      for (const [start, end] of [
        [0, 10],
        [0, 1],
        [9, 10],
        [3, 7],
        [4, 4],
        [10, 10],
      ] as const)
        expect(await text(await store.read(hash, { start, end }))).toBe("0123456789".slice(start, end));
    });

    test("keeps equal content once, also when it comes many times at once", async () => {
      const received = await Promise.all(
        [store, objects.other, store, objects.other, store].map((at) =>
          at.receive(Readable.from(["same"]), 9),
        ),
      );
      await Promise.all(received.map((object) => object.keep()));
      await Promise.all(received.map((object) => object.drop()));
      expect(await listHashes()).toEqual([nameHash("same")]);
      expect(await text(await store.read(nameHash("same")))).toBe("same");
      expect(await objects.listIncoming()).toEqual([]);
    });

    test("refuses content beyond the limit, keeps nothing of it, and leaves the source open for an answer", async () => {
      const source = Readable.from([Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(4)]);
      await expect(store.receive(source, 7)).rejects.toThrow(ObjectTooLarge);
      expect(source.destroyed).toBe(false);
      source.destroy();
      expect(await objects.listIncoming()).toEqual([]);
      expect((await store.receive(Readable.from([Buffer.alloc(7)]), 7)).bytes).toBe(7);
    });

    test("keeps nothing of what was dropped, or has broken off", async () => {
      await (await store.receive(Readable.from(["unwanted"]), 9)).drop();
      const broken = Readable.from(
        (async function* () {
          yield Buffer.from("half");
          throw new Error("cut off");
        })(),
      );
      await expect(store.receive(broken, 100)).rejects.toThrow("cut off");
      expect(await objects.listIncoming()).toEqual([]);
      expect(await listHashes()).toEqual([]);
    });

    test.each([UNKNOWN, ...NO_HASHES])("has no object %j", async (hash) => {
      expect(await store.has(hash)).toBe(false);
      await expect(store.read(hash)).rejects.toThrow(ObjectMissing);
      await expect(store.read(hash, { start: 0, end: 1 })).rejects.toThrow(ObjectMissing);
      await expect(store.fetchTo(hash, place())).rejects.toThrow(ObjectMissing);
      await store.remove(hash);
      expect((await readdir(folder)).filter((name) => name.startsWith("fetched-"))).toEqual([]);
    });

    test("removes an object for all, once and again; what was fetched of it stays", async () => {
      const [hash, other] = [await keep("gone"), await keep("here")];
      const path = place();
      await store.fetchTo(hash, path);
      await objects.other.remove(hash);
      await store.remove(hash);
      expect([await store.has(hash), await store.has(other)]).toEqual([false, true]);
      await expect(store.read(hash)).rejects.toThrow(ObjectMissing);
      expect(await readFile(path, "utf8")).toBe("gone");
      expect(await listHashes()).toEqual([other]);
      expect(await keep("gone")).toBe(hash);
      expect(await text(await store.read(hash))).toBe("gone");
    });

    test("fetches files that others can only read", async () => {
      const path = place();
      await store.fetchTo(await keep("read only"), path);
      expect((await stat(path)).mode & 0o777).toBe(0o444);
    });

    test("says when an object was kept last", async () => {
      const before = Date.now();
      await keep("dated");
      const [listed] = await listAll();
      // Stores round to seconds.
      expect(listed?.keptAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(listed?.keptAt).toBeLessThanOrEqual(Date.now() + 1_000);
    });

    test("is not held up by readers that stop early", async () => {
      const hash = await keep(Buffer.alloc(2 * MEGABYTE));
      for (let reader = 0; reader < 100; reader++) {
        const stream = await store.read(hash);
        await new Promise((resolve) => stream.once("data", resolve));
        stream.destroy();
      }
      expect((await buffer(await store.read(hash))).byteLength).toBe(2 * MEGABYTE);
    });
  });
}
