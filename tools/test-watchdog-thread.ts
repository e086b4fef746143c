import { kill, pid, stderr } from "node:process";
import { workerData } from "node:worker_threads";

const SECOND = 1_000;
const { beats, files, stuckSeconds, fileSeconds } = workerData as {
  readonly beats: Int32Array;
  readonly files: Int32Array;
  readonly stuckSeconds: number;
  readonly fileSeconds: number;
};

// In ticks of this thread: a machine that slept, or a process that was stopped, is not taken for a stuck one.
let ticks = 0;
let quiet = 0;
let seen = -1;
let file = -1;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  quiet = beat === seen ? quiet + 1 : 0;
  seen = beat;
  const now = Atomics.load(files, 0);
  ticks = now === file ? ticks + 1 : 0;
  file = now;
  if (quiet < stuckSeconds && ticks < fileSeconds) return;
  const reason =
    quiet < stuckSeconds ? `its file has run for ${ticks} s` : `its event loop is stuck for ${quiet} s`;
  stderr.write(`The test process ${pid} is ended: ${reason}.\n`);
  kill(pid, "SIGKILL");
}, SECOND);
