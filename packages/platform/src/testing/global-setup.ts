import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../postgres/supervisor.ts";
import { KEEP_VARIABLE, TEST_DIRECTORY_VARIABLE, createRecordingLogger } from "./test-database.ts";

/**
 * vitest globalSetup: names a directory for the server of this run, which the first test file that needs one starts,
 * and stops the server after the last.
 */
export async function setup(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "platform-test-"));
  // Root runs the server as somebody else, who must be able to enter.
  await chmod(directory, 0o755);
  process.env[TEST_DIRECTORY_VARIABLE] = directory;
  return async () => {
    const postgres = join(directory, "postgres");
    const wasUsed = await stat(join(postgres, "data")).then(
      () => true,
      () => false,
    );
    if (wasUsed) {
      const server = await startEmbeddedPostgres({ directory: postgres, logger: createRecordingLogger() });
      await server.stop();
    }
    if (wasUsed && process.env[KEEP_VARIABLE] !== undefined) process.stderr.write(`kept: ${directory}\n`);
    else await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
}
