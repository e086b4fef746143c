import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createClosers } from "@platform/engine/base/closers";
import type { Closers } from "@platform/engine/base/closers";
import type { S3Settings } from "../config/object-settings.ts";
import { StoreFull } from "../objects/object-store.ts";
import { HAS_S3_SERVER, startS3Server } from "../testing/s3-server.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import { openObjectStore } from "./object-store.ts";

let folder: string;
let closers: Closers;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "objects-"));
  closers = createClosers(createRecordingLogger());
});
afterEach(async () => {
  await closers.closeAll();
  await rm(folder, { recursive: true });
});

/** As the process opens it. */
async function openStore(s3: S3Settings | null, minFreeDiskBytes: number) {
  const logger = createRecordingLogger();
  const { store } = await openObjectStore(
    { config: { s3, objectCacheBytes: 0, minFreeDiskBytes }, logger, closers },
    { objects: folder, objectCache: join(folder, "cache") },
    { addRoom: () => undefined },
  );
  return store;
}

const produceContent = () => Readable.from(Array(32).fill(Buffer.alloc(MEGABYTE)));

test("a process whose objects are on its disk receives nothing that leaves less than half of what has to stay free", async () => {
  const store = await openStore(null, Number.MAX_SAFE_INTEGER);
  await expect(store.receive(produceContent(), Infinity)).rejects.toThrow(StoreFull);
});

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
test.runIf(HAS_S3_SERVER)("nor does one fetch such a thing from its bucket", async () => {
  const server = await startS3Server();
  closers.add("server", server.close);
  const settings = await server.makeBucket("objects");
  const store = await openStore(settings, 0);
  const received = await store.receive(produceContent(), Infinity);
  await received.keep();
  await received.drop();
  const full = await openStore(settings, Number.MAX_SAFE_INTEGER);
  const path = join(folder, "fetched");
  await expect(full.receive(produceContent(), Infinity)).rejects.toThrow(StoreFull);
  await expect(full.fetchTo(received.hash, path)).rejects.toThrow(StoreFull);
  expect(await readdir(folder)).toEqual(["incoming"]);
  await store.fetchTo(received.hash, path);
});
