import { kill, pid, stderr } from "node:process";
import { workerData } from "node:worker_threads";

const LOOK_MS = 100;
const { shared, patienceMs } = workerData as { readonly shared: BigInt64Array; readonly patienceMs: number };

setInterval(() => {
  const deadline = Number(Atomics.load(shared, 0));
  if (deadline === 0 || Date.now() < deadline + patienceMs) return;
  stderr.write(
    `${JSON.stringify({ level: 60, time: Date.now(), pid, msg: "the event loop is stuck past a lease; the process ends itself" })}\n`,
  );
  kill(pid, "SIGKILL");
}, LOOK_MS);
