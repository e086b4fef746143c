import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createClosers } from "@platform/engine/base/closers";
import type { S3Settings } from "../config/object-settings.ts";
import { StartError } from "../host/start-error.ts";
import { ObjectMissing, StoreUnavailable } from "../objects/object-store.ts";
import { HAS_S3_SERVER, startS3Server } from "../testing/s3-server.ts";
import type { S3Server } from "../testing/s3-server.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import { WATCH_TIMES } from "../objects/store-watch.ts";
import { openObjectStore } from "./object-store.ts";

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
describe.runIf(HAS_S3_SERVER)("a process whose objects are in a bucket", () => {
  let server: S3Server;
  let settings: S3Settings;
  let objects: string;
  let objectCache: string;
  beforeAll(async () => {
    server = await startS3Server();
    settings = await server.makeBucket("objects");
    objects = await mkdtemp(join(tmpdir(), "objects-"));
    objectCache = join(objects, "cache");
  });
  afterAll(async () => {
    await server?.close();
    await rm(objects, { recursive: true });
  });

  const start = async (changed: Partial<S3Settings> = {}, watchTimes = WATCH_TIMES) => {
    const logger = createRecordingLogger();
    const closers = createClosers(logger);
    const config = { s3: { ...settings, ...changed }, objectCacheBytes: MEGABYTE, minFreeDiskBytes: 0 };
    const givers: ((bytes: number) => Promise<void>)[] = [];
    const { store, explain } = await openObjectStore(
      { config, logger, closers, watchTimes },
      { objects, objectCache },
      { addRoom: (give) => void givers.push(give) },
    );
    return { store, explain, logger, givers, close: closers.closeAll };
  };

  test("stores them there, and nothing in its data directory", async () => {
    const { store, logger, close } = await start({ prefix: "of/platform" });
    const received = await store.receive(Readable.from(["content"]), 7);
    await received.keep();
    await received.drop();
    expect(await text(await store.read(received.hash))).toBe("content");
    expect(await readdir(join(objects, "incoming"))).toEqual([]);
    expect(await readdir(join(server.folderOf("objects"), "of/platform"))).toEqual([
      received.hash.slice(0, 2),
    ]);
    expect(logger.entries).toEqual([]);
    await close();
  });

  test("fetches an object once, and gives its copy up when the disk needs the room", async () => {
    const { store, givers, close } = await start({ prefix: "cached" });
    const received = await store.receive(Readable.from(["to be cached"]), 12);
    await received.keep();
    const { hash } = received;
    const fetch = async () => {
      const path = join(objects, randomUUID());
      await store.fetchTo(hash, path);
      const content = await readFile(path, "utf8");
      await rm(path);
      return content;
    };
    expect(await fetch()).toBe("to be cached");
    server.proxy.set("refuse");
    expect(await fetch()).toBe("to be cached");
    expect(server.proxy.countConnections()).toBe(0);
    server.proxy.set("none");
    for (const give of givers) await give(1);
    expect(await readdir(join(objectCache, hash.slice(0, 2)))).toEqual([]);
    expect(await fetch()).toBe("to be cached");
    await store.remove(hash);
    await expect(fetch()).rejects.toThrow(ObjectMissing);
    await close();
  });

  test.each<[string, string, () => Promise<void>, () => Promise<void>]>([
    [
      "does not answer",
      "OBJECTS_UNAVAILABLE",
      async () => server.proxy.set("refuse"),
      async () => server.proxy.set("none"),
    ],
    [
      "has gone",
      "OBJECTS_REFUSED",
      () => rename(server.folderOf("objects"), server.folderOf("renamed")),
      () => rename(server.folderOf("renamed"), server.folderOf("objects")),
    ],
  ])(
    "names a bucket that %s, asks it no more, and uses it when it is back",
    async (_what, code, lose, restore) => {
      const times = { soundMs: 10, failingMs: 10, downAfterMs: 0 };
      const { store, explain, logger, close } = await start({ prefix: code }, times);
      const received = await store.receive(Readable.from(["content"]), 7);
      await received.keep();
      expect(explain()).toBeNull();
      await lose();
      await expect.poll(explain).toMatchObject({ code, detail: expect.stringMatching(/^The store .*\.$/u) });
      const reason = /has not answered for a while/u;
      await expect(store.has(received.hash)).rejects.toThrow(reason);
      await expect(store.read(received.hash)).rejects.toThrow(reason);
      // On this machine: a result waits there until the bucket is back.
      const more = await store.receive(Readable.from(["more"]), 7);
      await expect(store.fetchTo(received.hash, join(objects, "fetched"))).rejects.toThrow(reason);
      await restore();
      await expect.poll(explain).toBeNull();
      expect(await text(await store.read(received.hash))).toBe("content");
      await more.keep();
      const told = logger.entries.map(({ level, message }) => `${level}: ${message}`);
      expect(told).toContain("warn: the store of objects cannot be used");
      expect(told.at(-1)).toBe("info: the store of objects can be used again");
      await close();
    },
  );

  test("does not wait, when it stops, for what is fetched from a bucket that hangs", async () => {
    const { store, close } = await start({ prefix: "hanging" });
    const received = await store.receive(Readable.from(["content"]), 7);
    await received.keep();
    server.proxy.set("hang");
    const fetching = store.fetchTo(received.hash, join(objects, "hanging"));
    const failure = fetching.catch((error: unknown) => error);
    await expect.poll(server.proxy.countConnections).toBe(1);
    await close();
    expect(await failure).toBeInstanceOf(StoreUnavailable);
    // It was not tried again either.
    expect(server.proxy.countConnections()).toBe(1);
    server.proxy.set("none");
  });

  test("starts also while the service does not answer, and says so", async () => {
    server.proxy.set("refuse");
    const { store, logger, close } = await start();
    expect(logger.entries).toMatchObject([{ level: "warn", message: /S3 service does not answer/u }]);
    server.proxy.set("none");
    expect(await store.has("0".repeat(64))).toBe(false);
    await close();
  });

  test("says once a minute why the service cannot be used", async () => {
    const { store, logger, close } = await start();
    await rename(server.folderOf("objects"), server.folderOf("renamed"));
    for (let tries = 0; tries < 3; tries++)
      await expect(store.read("0".repeat(64))).rejects.toThrow(StoreUnavailable);
    await rename(server.folderOf("renamed"), server.folderOf("objects"));
    expect(logger.entries).toMatchObject([
      { level: "warn", fields: { err: { cause: { name: "NoSuchBucket" } } } },
    ]);
    await close();
  });

  test("does not start with a bucket that it cannot use", async () => {
    await expect(start({ bucket: "no-such-bucket" })).rejects.toThrow(StartError);
    const credentials = { accessKeyId: "test", secretAccessKey: "wrong" };
    await expect(start({ credentials })).rejects.toThrow(StartError);
  });
});
