import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { INTERPRETER, waitFor } from "../../testing/python-fixture.ts";
import type { Leader } from "./family.ts";
import { isOver, listChildren, readStat } from "./process-files.ts";
import { createWatcher } from "./watcher.ts";
import type { Watch } from "./watcher.ts";

/** Two processes, of which each takes 50 MB. */
const PROGRAM = `
import mmap, os, time
child = os.fork()
memory = mmap.mmap(-1, 50 << 20)
for at in range(0, len(memory), 4096): memory[at] = 1
if child: print(child, flush=True)
time.sleep(1000)
`;

let watch: Watch | null = null;
let started: ChildProcess | null = null;
afterEach(async () => {
  watch?.end();
  if (started === null || started.pid === undefined) return;
  for (const pid of [...listChildren(started.pid), started.pid])
    if (!isOver(pid)) process.kill(pid, "SIGKILL");
  if (started.exitCode === null && started.signalCode === null) await once(started, "exit");
});

async function begin(isWarden: boolean): Promise<{ readonly leader: Leader; readonly child: number }> {
  started = spawn(INTERPRETER, ["-I", "-S", "-c", PROGRAM], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = started.stdout === null ? [] : await once(started.stdout, "data");
  const stat = readStat(started.pid ?? 0);
  if (stat === null) throw new Error("the program has ended");
  return {
    leader: { stat, zygote: stat.pid, inheritedBytes: 0, isApart: false, isWarden },
    child: Number(String(line)),
  };
}

test("processes that take more memory than they may are killed by the watcher itself, who sees it first", async () => {
  const { leader, child } = await begin(false);
  watch = createWatcher().watch(leader, { memoryBytes: 20 << 20, cpus: Infinity });
  await waitFor("both have ended", () => isOver(leader.stat.pid) && isOver(child));
  expect(watch.measure()?.outOfMemoryKills).toBe(1);
});

test("a warden is not killed with the others, which it ends itself", async () => {
  const { leader, child } = await begin(true);
  watch = createWatcher().watch(leader, { memoryBytes: 20 << 20, cpus: Infinity });
  await waitFor("the other has ended", () => isOver(child));
  await watch.look();
  expect(isOver(leader.stat.pid)).toBe(false);
});
