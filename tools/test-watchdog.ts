/*
 * vitest setup file: ends a test file that hangs, so that it counts as failed. vitest's own time limits need an event
 * loop that turns, and there are none for what a module does while it is imported; a thread sees both.
 */
import { env } from "node:process";
import { Worker } from "node:worker_threads";

const BEAT_MS = 500;
const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const watched = globalThis as { isWatched?: true };

if (watched.isWatched === undefined) {
  watched.isWatched = true;
  const workerData = {
    beats,
    stuckSeconds: Number(env["PLATFORM_TEST_STUCK_SECONDS"] ?? 120),
    fileSeconds: Number(env["PLATFORM_TEST_FILE_SECONDS"] ?? 1_500),
  };
  new Worker(new URL("./test-watchdog-thread.ts", import.meta.url), { workerData, execArgv: [] }).unref();
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
}
