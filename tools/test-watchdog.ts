/*
 * vitest setup file: ends a test file that hangs, so that it counts as failed. vitest's own time limits need an event
 * loop that turns, and there are none for what a module does while it is imported; a thread sees both.
 */
import { env } from "node:process";
import { Worker } from "node:worker_threads";

const BEAT_MS = 500;
/** What the thread looks at: beats of the event loop, and files that this process has begun. */
interface Watched {
  readonly beats: Int32Array;
  readonly files: Int32Array;
}
const createCounter = () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const shared = globalThis as { watched?: Watched };

// Files of a project that is not isolated share a process; its thread, too.
shared.watched ??= startWatching({ beats: createCounter(), files: createCounter() });
Atomics.add(shared.watched.files, 0, 1);

function startWatching(watched: Watched): Watched {
  const workerData = {
    ...watched,
    stuckSeconds: Number(env["PLATFORM_TEST_STUCK_SECONDS"] ?? 120),
    fileSeconds: Number(env["PLATFORM_TEST_FILE_SECONDS"] ?? 1_500),
  };
  new Worker(new URL("./test-watchdog-thread.ts", import.meta.url), { workerData, execArgv: [] }).unref();
  setInterval(() => Atomics.add(watched.beats, 0, 1), BEAT_MS).unref();
  return watched;
}
