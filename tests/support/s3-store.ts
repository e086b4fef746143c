import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import { afterAll } from "vitest";
import { HAS_S3_SERVER, startS3Server } from "../../packages/platform/src/testing/s3-server.ts";
import type { S3Server } from "../../packages/platform/src/testing/s3-server.ts";
import type { ProxyFault } from "../../packages/platform/src/testing/faulty-proxy.ts";
import type { S3Settings } from "../../packages/platform/src/config/object-settings.ts";

/*
 * With PLATFORM_TEST_STORE=s3 (`npm run test:s3`), every platform that a test file starts, also by `npm start` and `npm run demo`, has its objects
 * in a bucket: each file starts a server of its own, and platforms are told by their environment. Tests that name a bucket themselves override it.
 */

export { HAS_S3_SERVER, startS3Server };
export type { ProxyFault, S3Server };

/** Whether every platform of this run has its objects in a bucket. */
export const ALL_IN_BUCKETS = env["PLATFORM_TEST_STORE"] === "s3";

/** The variables that name a bucket to a platform. */
export function nameBucket({ bucket, endpoint, region, credentials }: S3Settings): Record<string, string> {
  return {
    PLATFORM_S3_BUCKET: bucket,
    PLATFORM_S3_ENDPOINT: endpoint ?? "",
    PLATFORM_S3_REGION: region,
    PLATFORM_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    PLATFORM_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
  };
}

/** The environment of what cannot reach a bucket: it has its objects in its data directory. */
export function withoutBucket(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PLATFORM_S3_")));
}

/** Where the bucket of this file has its objects; not set: they are in data directories. */
const FOLDER = "PLATFORM_TEST_OBJECTS";

/** The objects that are stored, in a bucket those of all platforms of this file, and what this platform is receiving. */
export async function listStored(dataDirectory: string): Promise<readonly string[]> {
  const own = join(dataDirectory, "objects");
  const stored = (await listBelow(env[FOLDER] ?? own)).filter((path) => /^..\/[0-9a-f]{64}$/u.test(path));
  return [...stored, ...(await listBelow(join(own, "incoming")))].toSorted();
}

async function listBelow(folder: string): Promise<readonly string[]> {
  return await readdir(folder, { recursive: true }).catch(() => []);
}

if (ALL_IN_BUCKETS) {
  const server = await startS3Server();
  const bucket = randomUUID();
  Object.assign(env, nameBucket(await server.makeBucket(bucket)), { [FOLDER]: server.folderOf(bucket) });
  afterAll(() => server.close());
}
