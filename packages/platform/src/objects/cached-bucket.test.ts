import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { testObjectStore } from "../testing/object-conformance.ts";
import { HAS_S3_SERVER, startS3Server } from "../testing/s3-server.ts";
import type { S3Server } from "../testing/s3-server.ts";
import { openObjectCache, withCache } from "./object-cache.ts";
import { openS3Objects } from "./s3-objects.ts";

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
describe.runIf(HAS_S3_SERVER)("an S3 service", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server?.close());

  testObjectStore("a bucket with a cache", async (folder) => {
    const settings = await server.makeBucket(randomUUID());
    const open = async (name: string) => {
      const bucket = await openS3Objects({ settings, incoming: join(folder, name) });
      const { fetchTo } = bucket;
      const cache = await openObjectCache({
        directory: join(folder, "cache"),
        maxBytes: 64 * MEGABYTE,
        fetchTo,
      });
      return { bucket, cache, store: withCache(bucket, cache) };
    };
    const [own, other] = await Promise.all([open("incoming"), open("other")]);
    const list = (name: string) => readdir(join(folder, name)).catch(() => []);
    return {
      store: own.store,
      other: other.store,
      listIncoming: async () => [...(await list("incoming")), ...(await list("other"))],
      close: async () => {
        await Promise.all([own.cache.close(), other.cache.close()]);
        own.bucket.close();
        other.bucket.close();
      },
    };
  });
});
