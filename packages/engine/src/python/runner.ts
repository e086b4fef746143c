import { chmodSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { runTrusted } from "../host/processes.ts";
import type { PythonRuntimeOptions } from "./port/settings.ts";
import { copyRunner, RUNNER_DIRECTORY } from "./sandbox/runner-files.ts";

const COMPILE_TIMEOUT_MS = 60_000;
/** The kernel limits a socket's path to 107 bytes (unix(7)); a folder and a name are appended to the run directory. */
const MAX_RUN_DIRECTORY_LENGTH = 80;

/**
 * Copies the Python half into the run directory, and returns the folder of the copy.
 *
 * @throws Error when the run directory cannot be used
 */
export function installRunner(options: PythonRuntimeOptions): string {
  const { runDirectory } = options;
  if (!isAbsolute(runDirectory)) throw new Error(`runDirectory must be absolute: ${runDirectory}`);
  if (Buffer.byteLength(runDirectory) > MAX_RUN_DIRECTORY_LENGTH)
    throw new Error(
      `runDirectory must have at most ${MAX_RUN_DIRECTORY_LENGTH} bytes, a socket's path is limited: ${runDirectory}`,
    );
  mkdirSync(runDirectory, { recursive: true });
  const runner = join(runDirectory, "runner");
  rmSync(runner, { recursive: true, force: true });
  copyRunner(options.runnerDirectory ?? RUNNER_DIRECTORY, runner);
  chmodSync(runDirectory, 0o711);
  if (options.sandbox.report.level !== "D" && process.getuid?.() === 0) refuseClosedParents(runDirectory);
  return runner;
}

function refuseClosedParents(path: string): void {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0)
      throw new Error(
        `${folder} is closed to the uids that versions run as: choose a run directory elsewhere, or chmod o+x it`,
      );
  }
}

/**
 * Compiles the runner: compiling takes longer than anything else in a cold start, and the sandbox cannot write the results. Never with a
 * version's own interpreter: that file lies in an environment, where packages may have replaced it. The base installation's
 * bytecode is used, because an environment has the same cache tag. Never rejects: without bytecode a start is only slower.
 */
export async function compileRunner(
  { interpreter, logger }: PythonRuntimeOptions,
  runnerDirectory: string,
  signal: AbortSignal,
): Promise<void> {
  if (interpreter === null) return;
  const args = ["-I", "-S", "-m", "compileall", "-q", runnerDirectory];
  try {
    await runTrusted(interpreter, args, { env: {}, timeout: COMPILE_TIMEOUT_MS, signal });
  } catch (error) {
    if (!signal.aborted) logger.warn({ err: error }, "the Python half could not be compiled ahead");
  }
}
