import { kill, pid, stderr } from "node:process";
import { workerData } from "node:worker_threads";
import { readMonotonic } from "@platform/engine/base/monotonic";

const CHECK_MS = 100;
const { shared, patienceMs } = workerData as { readonly shared: BigInt64Array; readonly patienceMs: number };

let lastBeat = -1n;
let lastCheck = readMonotonic();
/** How long there was no heartbeat. Each check counts for at most two intervals, so a pause of the whole process counts little. */
let silentMs = 0;

setInterval(() => {
  const now = readMonotonic();
  const beat = Atomics.load(shared, 1);
  silentMs = beat === lastBeat ? silentMs + Math.min(now - lastCheck, 2 * CHECK_MS) : 0;
  lastBeat = beat;
  lastCheck = now;
  const deadline = Number(Atomics.load(shared, 0));
  if (deadline === 0 || now < deadline + patienceMs || silentMs < patienceMs) return;
  stderr.write(
    `${JSON.stringify({ level: 60, time: Date.now(), pid, msg: "the event loop is blocked past a lease; killing the process" })}\n`,
  );
  kill(pid, "SIGKILL");
}, CHECK_MS);
