import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { env } from "node:process";
import { promisify } from "node:util";
import { SILENT } from "@platform/engine/testing/silent-logger";
import { startEmbeddedPostgres } from "../../packages/platform/src/postgres/supervisor.ts";
import { createMaintenanceDatabase, prepareDatabase } from "../../packages/platform/src/store/prepare.ts";

/*
 * Platforms of stories begin with a copy of a database that has the schema and nothing in it: making it takes as much of a processor
 * as all else that a first start does, and a test run starts more than a hundred. First starts without it are those of the demo, of
 * `npm start`, of what runs as another user, on a small disk or on a database of its own, and of benchmarks.
 */

/** Where this test run has it. */
const PREPARED = "PLATFORM_TEST_PREPARED";

/** vitest globalSetup: makes it, for all projects of the run together. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (env[PREPARED] !== undefined) return undefined;
  const root = await mkdtemp(join(tmpdir(), "platform-prepared-"));
  const remove = async () => {
    delete env[PREPARED];
    await rm(root, { recursive: true, force: true });
  };
  try {
    // Root runs the server as somebody else, who must be able to enter.
    await chmod(root, 0o755);
    env[PREPARED] = await prepare(join(root, "postgres"));
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
}

async function prepare(directory: string): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    directory,
    logger: SILENT,
    atExit: (stopNow) => void process.once("exit", stopNow),
  });
  const database = createMaintenanceDatabase(postgres.connection, { logger: SILENT });
  try {
    await prepareDatabase(database, { logger: SILENT, retentionDays: 30 });
  } finally {
    await database.close();
    await postgres.stop();
  }
  return directory;
}

/** The data directory of a platform that has not run yet. Its files keep their owners: this process and the platform are the same user's. */
export async function layDatabase(dataDirectory: string): Promise<void> {
  const prepared = env[PREPARED];
  if (prepared === undefined) return;
  await mkdir(dataDirectory, { mode: 0o711 });
  await promisify(execFile)("cp", ["-a", prepared, dataDirectory]);
}
