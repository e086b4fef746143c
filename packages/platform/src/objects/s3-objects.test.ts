import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { HOUR, SECOND } from "@platform/engine/base/time";
import type { ProxyFault } from "../testing/faulty-proxy.ts";
import { testObjectStore } from "../testing/object-conformance.ts";
import { HAS_S3_SERVER, startS3Server } from "../testing/s3-server.ts";
import type { S3Server } from "../testing/s3-server.ts";
import type { S3Settings } from "../config/object-settings.ts";
import { ObjectDamaged, ObjectMissing, StoreFull, StoreUnavailable } from "./object-store.ts";
import { openBucket } from "./s3-bucket.ts";
import type { S3Limits } from "./s3-bucket.ts";
import { BucketUnusable, openS3Objects } from "./s3-objects.ts";
import type { S3Objects } from "./s3-objects.ts";

const LIMITS: S3Limits = {
  connectMs: 60 * SECOND,
  silenceMs: 60 * SECOND,
  tries: 3,
  pause: { firstMs: 1, ceilingMs: 1 },
  partBytes: 5 * MEGABYTE,
};

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
describe.runIf(HAS_S3_SERVER)("an S3 service", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server?.close());

  testObjectStore("a bucket", async (folder) => {
    const settings = { ...(await server.makeBucket(randomUUID())), prefix: "of/others" };
    const open = (name: string) => openS3Objects({ settings, incoming: join(folder, name), limits: LIMITS });
    const [store, other] = await Promise.all([open("incoming"), open("other")]);
    const list = (name: string) => readdir(join(folder, name)).catch(() => []);
    return {
      store,
      other,
      listIncoming: async () => [...(await list("incoming")), ...(await list("other"))],
      close: async () => {
        store.close();
        other.close();
      },
    };
  });

  describe("that fails", () => {
    let folder: string;
    let settings: S3Settings;
    let opened: S3Objects[];
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "objects-"));
      settings = await server.makeBucket(randomUUID());
      opened = [];
    });
    afterEach(async () => {
      server.proxy.set("none");
      for (const store of opened) store.close();
      await rm(folder, { recursive: true });
    });

    const open = async (
      limits: Partial<S3Limits> = {},
      onUnavailable = (_error: Error): void => undefined,
    ) => {
      const store = await openS3Objects({
        settings,
        onUnavailable,
        incoming: join(folder, "incoming"),
        limits: { ...LIMITS, ...limits },
      });
      opened.push(store);
      return store;
    };
    const listFetched = async () => (await readdir(folder)).filter((name) => name !== "incoming");

    /** Each thing that a store does, on an object that is there and content that is not. */
    const DEEDS: Readonly<Record<string, (store: S3Objects, hash: string) => Promise<unknown>>> = {
      keep: (store) => keepIn(store, "new content"),
      has: (store, hash) => store.has(hash),
      read: async (store, hash) => text(await store.read(hash)),
      fetchTo: (store, hash) => store.fetchTo(hash, join(folder, "fetched")),
      remove: (store, hash) => store.remove(hash),
      list: (store) => store.list()[Symbol.asyncIterator]().next(),
    };
    const EVERY_DEED = Object.entries(DEEDS);
    const REPEATED = EVERY_DEED.filter(([name]) => name !== "remove");

    test.each(REPEATED)("for a moment is asked again: %s", async (_name, act) => {
      const hash = await keepIn(await open(), "content");
      for (const fault of ["fail", "refuse"] as const) {
        server.proxy.set(fault, 2);
        await act(await open(), hash);
        await rm(join(folder, "fetched"), { force: true });
        expect(server.proxy.countConnections()).toBeGreaterThan(2);
      }
    });

    test.each(REPEATED)("for longer is unavailable: %s", async (_name, act) => {
      const hash = await keepIn(await open(), "content");
      const failures: Error[] = [];
      const store = await open({}, (error) => void failures.push(error));
      for (const fault of ["fail", "refuse"] as const) {
        server.proxy.set(fault);
        await expect(act(store, hash)).rejects.toThrow(StoreUnavailable);
        expect(failures.splice(0)).toMatchObject([{ name: "StoreUnavailable", cause: expect.any(Error) }]);
        expect(server.proxy.countConnections()).toBe(3);
      }
      server.proxy.set("none");
      expect(await text(await store.read(hash))).toBe("content");
      await keepIn(store, "new content");
    });

    test.each(EVERY_DEED)(
      "by saying nothing is not waited for longer than the limit: %s",
      async (_name, act) => {
        const hash = await keepIn(await open(), "content");
        const store = await open({ silenceMs: 100, tries: 1 });
        server.proxy.set("hang");
        await expect(act(store, hash)).rejects.toThrow(StoreUnavailable);
        expect(server.proxy.countConnections()).toBe(1);
        expect(await listFetched()).toEqual([]);
      },
    );

    test.each(EVERY_DEED)(
      "is not waited for when it is closed, and not asked again: %s",
      async (_name, act) => {
        const hash = await keepIn(await open(), "content");
        for (const fault of ["hang", "refuse"] as const) {
          const store = await open({ silenceMs: HOUR, pause: { firstMs: HOUR, ceilingMs: HOUR } });
          server.proxy.set(fault);
          const failure = act(store, hash).catch((error: unknown) => error);
          await expect.poll(server.proxy.countConnections).toBe(1);
          store.close();
          expect(await failure).toBeInstanceOf(StoreUnavailable);
          expect(server.proxy.countConnections()).toBe(1);
        }
        expect(await listFetched()).toEqual([]);
      },
    );

    test("is told once to remove an object: a removal that comes late would take what was stored again", async () => {
      const hash = await keepIn(await open(), "content");
      const store = await open();
      for (const fault of ["fail", "refuse"] as const) {
        server.proxy.set(fault);
        await expect(store.remove(hash)).rejects.toThrow(StoreUnavailable);
        expect(server.proxy.countConnections()).toBe(1);
      }
    });

    test("in the middle of an object is asked again for a file", async () => {
      const store = await open();
      const content = Buffer.alloc(3 * MEGABYTE, "content");
      const hash = await keepIn(store, content);
      const path = join(folder, "fetched");
      server.proxy.set({ cutAnswerAt: MEGABYTE }, 2);
      await store.fetchTo(hash, path);
      expect(content.equals(await readFile(path))).toBe(true);
      await rm(path);
      server.proxy.set({ cutAnswerAt: MEGABYTE });
      await expect(store.fetchTo(hash, path)).rejects.toThrow(StoreUnavailable);
      expect(await listFetched()).toEqual([]);
    });

    test.each<[string, ProxyFault, Partial<S3Limits>]>([
      ["breaks off", { cutAnswerAt: MEGABYTE }, {}],
      ["stops", { stopAnswerAt: MEGABYTE }, { silenceMs: 100 }],
    ])("in the middle of an object: its reader hears that it %s", async (_what, fault, limits) => {
      const hash = await keepIn(await open(), Buffer.alloc(3 * MEGABYTE));
      const store = await open(limits);
      server.proxy.set(fault);
      await expect(store.read(hash).then(buffer)).rejects.toThrow(StoreUnavailable);
    });

    test("in the middle of an object that nobody reads yet ends no process: its reader hears of it later", async () => {
      const hash = await keepIn(await open(), Buffer.alloc(3 * MEGABYTE));
      const store = await open();
      server.proxy.set({ cutAnswerAt: 100_000 });
      const content = await store.read(hash);
      await expect.poll(() => content.errored).toBeInstanceOf(StoreUnavailable);
      await expect(buffer(content)).rejects.toThrow(StoreUnavailable);
    });

    test.each([
      ["at once", 3 * MEGABYTE],
      ["in parts", 12 * MEGABYTE],
    ])("while content is stored %s shows nothing of it, and takes it later", async (_what, bytes) => {
      const store = await open();
      const received = await receiveIn(store, Buffer.alloc(bytes, "content"));
      server.proxy.set({ cutRequestAt: MEGABYTE });
      await expect(received.keep()).rejects.toThrow(StoreUnavailable);
      server.proxy.set("none");
      expect(await store.removeUnfinished(new Date(Date.now() + HOUR))).toBe(0);
      expect(await store.has(received.hash)).toBe(false);
      await expect(store.read(received.hash)).rejects.toThrow(ObjectMissing);
      await received.keep();
      const path = join(folder, "fetched");
      await store.fetchTo(received.hash, path);
      expect((await stat(path)).size).toBe(bytes);
      expect(await listOpenFiles(received.path)).toBe(0);
    });

    test("since it is full is not asked again, and takes the content when it has room", async () => {
      const store = await open();
      const received = await receiveIn(store, "content");
      server.proxy.set("full");
      await expect(received.keep()).rejects.toThrow(StoreFull);
      expect(server.proxy.countConnections()).toBe(1);
      server.proxy.set("none");
      await received.keep();
      expect(await text(await store.read(received.hash))).toBe("content");
    });

    test("with its answer lost has stored the content all the same", async () => {
      const store = await open();
      const received = await receiveIn(store, "content");
      server.proxy.set({ cutAnswerAt: 0 }, 1);
      await received.keep();
      // Sent, refused since it is there, and looked at.
      expect(server.proxy.countConnections()).toBeGreaterThan(1);
      expect(await text(await store.read(received.hash))).toBe("content");
    });
  });

  describe("is used such that", () => {
    let folder: string;
    let settings: S3Settings;
    let store: S3Objects;
    const open = (changed: Partial<S3Settings> = {}, limits = LIMITS) =>
      openS3Objects({
        settings: { ...settings, ...changed },
        incoming: join(folder, "incoming"),
        limits,
      });
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "objects-"));
      settings = await server.makeBucket(randomUUID());
      store = await open();
    });
    afterEach(async () => {
      store?.close();
      await rm(folder, { recursive: true });
    });

    const receive = (content: string | Uint8Array) => receiveIn(store, content);
    const pathOf = (hash: string) => join(server.folderOf(settings.bucket), hash.slice(0, 2), hash);

    test("of twenty stores of one content at once one is taken, also in parts", async () => {
      for (const content of ["content", Buffer.alloc(6 * MEGABYTE)]) {
        const first = await receive(content);
        await first.keep();
        const { ino } = await stat(pathOf(first.hash));
        const others = await Promise.all(Array.from({ length: 20 }, () => receive(content)));
        await Promise.all(others.map((received) => received.keep()));
        // A file that was replaced is another one.
        expect((await stat(pathOf(first.hash))).ino).toBe(ino);
        await Promise.all(others.map((received) => received.drop()));
      }
    });

    test("a reader that stops early holds no connection", async () => {
      const received = await receive(Buffer.alloc(3 * MEGABYTE));
      await received.keep();
      const content = await store.read(received.hash);
      await new Promise((resolve) => content.once("data", resolve));
      content.destroy();
      await expect.poll(() => server.proxy.countOpen()).toBe(0);
    });

    test("content of parts is whole, and each part of it can be read", async () => {
      const content = Buffer.alloc(2 * LIMITS.partBytes + 17, "0123456789abcde");
      const received = await receive(content);
      await received.keep();
      expect(content.equals(await buffer(await store.read(received.hash)))).toBe(true);
      const [start, end] = [LIMITS.partBytes - 3, LIMITS.partBytes + 3];
      expect(await text(await store.read(received.hash, { start, end }))).toBe(
        content.toString("utf8", start, end),
      );
    });

    test("content that was changed in the bucket is not fetched, and replaced when its size says so", async () => {
      const received = await receive("content");
      await received.keep();
      await writeFile(pathOf(received.hash), "CONTENT");
      await expect(store.fetchTo(received.hash, join(folder, "fetched"))).rejects.toThrow(ObjectDamaged);
      expect(await readdir(folder)).toEqual(["incoming"]);
      await writeFile(pathOf(received.hash), "cont");
      const again = await receive("content");
      await again.keep();
      expect(await text(await store.read(received.hash))).toBe("content");
    });

    test("content whose file was changed is not stored", async () => {
      const received = await receive("content");
      await rm(received.path);
      await writeFile(received.path, "CONTENT");
      await expect(received.keep()).rejects.toThrow(StoreUnavailable);
      expect(await store.has(received.hash)).toBe(false);
    });

    test("content whose file has gone is not waited for", async () => {
      for (const content of ["content", Buffer.alloc(6 * MEGABYTE)]) {
        const received = await receive(content);
        await received.drop();
        await expect(received.keep()).rejects.toMatchObject({ code: "ENOENT" });
        expect(await store.has(received.hash)).toBe(false);
      }
    });

    test.each<[string, Partial<S3Settings>, RegExp]>([
      [
        "a secret that is wrong",
        { credentials: { accessKeyId: "test", secretAccessKey: "wrong" } },
        /^The bucket [0-9a-f-]+ cannot be used: .*signature.*\. Correct --s3-bucket/u,
      ],
      [
        "a bucket that is missing",
        { bucket: "no-such-bucket" },
        /^The bucket no-such-bucket cannot be used: .*does not exist\.? Correct --s3-bucket/u,
      ],
    ])("%s is said at once", async (_what, changed, text) => {
      // Tries again only after the time limit of the test.
      const wrong = await open(changed, { ...LIMITS, pause: { firstMs: HOUR, ceilingMs: HOUR } });
      const received = await wrong.receive(Readable.from(["content"]), 7);
      await expect(received.keep()).rejects.toThrow(StoreUnavailable);
      await expect(wrong.read(received.hash)).rejects.toThrow(StoreUnavailable);
      await expect(wrong.check()).rejects.toThrow(BucketUnusable);
      await expect(wrong.check()).rejects.toThrow(text);
      wrong.close();
    });

    test("what others keep in the bucket is not listed", async () => {
      const received = await receive("content");
      await received.keep();
      const { hash } = received;
      const others = [`${hash.slice(0, 2)}/README`, hash, `00/${hash}`, `ff/${"f".repeat(64)}/x`];
      const bucket = await openBucket({ settings, limits: LIMITS });
      for (const Key of others)
        await bucket.request(({ client, commands }) =>
          client.send(new commands.PutObjectCommand({ Bucket: settings.bucket, Key, Body: "x" })),
        );
      const found = [];
      for await (const object of store.list()) found.push(object.hash);
      expect(found).toEqual([hash]);
      bucket.close();
    });

    test("uploads that were begun and not completed are aborted when they are old", async () => {
      const bucket = await openBucket({ settings, limits: LIMITS });
      const begin = (Key: string) =>
        bucket.request(({ client, commands }) =>
          client.send(new commands.CreateMultipartUploadCommand({ Bucket: settings.bucket, Key })),
        );
      const count = async () => {
        const { Uploads = [] } = await bucket.request(({ client, commands }) =>
          client.send(new commands.ListMultipartUploadsCommand({ Bucket: settings.bucket })),
        );
        return Uploads.length;
      };
      await begin("ab/one");
      await begin("cd/two");
      expect(await store.removeUnfinished(new Date(Date.now() - HOUR))).toBe(0);
      expect(await count()).toBe(2);
      expect(await store.removeUnfinished(new Date(Date.now() + HOUR))).toBe(2);
      expect(await count()).toBe(0);
      bucket.close();
    });
  });
});

function receiveIn(store: S3Objects, content: string | Uint8Array) {
  return store.receive(Readable.from([content]), content.length);
}

async function keepIn(store: S3Objects, content: string | Uint8Array): Promise<string> {
  const received = await receiveIn(store, content);
  await received.keep();
  return received.hash;
}

/** How often this process has a file open. */
async function listOpenFiles(path: string): Promise<number> {
  const descriptors = await readdir("/proc/self/fd").catch(() => []);
  const targets = await Promise.all(
    descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")),
  );
  return targets.filter((target) => target === path).length;
}
