import { kill, pid, stderr } from "node:process";
import { workerData } from "node:worker_threads";
import { readMonotonic } from "@platform/engine/base/monotonic";

const LOOK_MS = 100;
const { shared, patienceMs } = workerData as { readonly shared: BigInt64Array; readonly patienceMs: number };

let lastBeat = -1n;
let lastLook = readMonotonic();
/** How long there was no beat, counted in looks: a pause of the whole process, in which nobody could beat, is one look long. */
let silentMs = 0;

setInterval(() => {
  const now = readMonotonic();
  const beat = Atomics.load(shared, 1);
  silentMs = beat === lastBeat ? silentMs + Math.min(now - lastLook, 2 * LOOK_MS) : 0;
  lastBeat = beat;
  lastLook = now;
  const deadline = Number(Atomics.load(shared, 0));
  if (deadline === 0 || now < deadline + patienceMs || silentMs < patienceMs) return;
  stderr.write(
    `${JSON.stringify({ level: 60, time: Date.now(), pid, msg: "the event loop is stuck past a lease; the process ends itself" })}\n`,
  );
  kill(pid, "SIGKILL");
}, LOOK_MS);
