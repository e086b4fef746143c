import { write } from "node:fs";
import { kill, pid } from "node:process";
import { workerData } from "node:worker_threads";
import { readMonotonic } from "@platform/engine/base/monotonic";

const CHECK_MS = 100;
const STDERR = 2;
const { shared, patienceMs } = workerData as { readonly shared: BigInt64Array; readonly patienceMs: number };

let lastBeat = -1n;
let lastCheck = readMonotonic();
/** How long there was no heartbeat. Each check counts for at most two intervals, so a pause of the whole process counts little. */
let silentMs = 0;

const checks = setInterval(() => {
  const now = readMonotonic();
  const beat = Atomics.load(shared, 1);
  silentMs = beat === lastBeat ? silentMs + Math.min(now - lastCheck, 2 * CHECK_MS) : 0;
  lastBeat = beat;
  lastCheck = now;
  const deadline = Number(Atomics.load(shared, 0));
  if (deadline === 0 || now < deadline + patienceMs || silentMs < patienceMs) return;
  clearInterval(checks);
  setTimeout(end, patienceMs / 2);
  say("the event loop is blocked past a lease; killing the process", end);
}, CHECK_MS);

function end(): void {
  kill(pid, "SIGKILL");
}

/**
 * What a thread writes to its `stderr` waits for the event loop of the process, which is blocked. So it is written to the file itself, without
 * waiting: that may take for ever where nobody reads the log, which may be what blocks the event loop.
 */
function say(msg: string, onSaid: () => void): void {
  write(STDERR, `${JSON.stringify({ level: 60, time: Date.now(), pid, msg })}\n`, onSaid);
}
