import { readMonotonic } from "../../base/monotonic.ts";
import type { Usage } from "../child/usage.ts";
import type { Leader } from "./family.ts";
import { enterSample, isAhead, openLedger, planLook } from "./ledger.ts";
import type { Ledger, SampledLimits } from "./ledger.ts";
import { readPeak, readStat, readThreadSeconds } from "./process-files.ts";
import type { ProcessStat } from "./process-files.ts";
import {
  listProcesses,
  measureExactly,
  measureFiles,
  measureFileSystems,
  measurePageTables,
  signalProcesses,
} from "./run-processes.ts";

/** Processes that are forked while the others are being stopped are found in the next turn. */
const STOP_TURNS = 3;

/** Enforces limits where the kernel does not, by looking: what a run does between two looks is seen late, or not at all. */
export interface Watcher {
  /** From now on the run may be stopped, continued and killed. Until `end`, it is sampled. */
  readonly watch: (leader: Leader, limits: SampledLimits) => Watch;
}

/** One run that is watched. */
export interface Watch {
  /** What it has used until now; null: its processes ended before it was looked at. */
  readonly measure: () => Usage | null;
  /** Looks at once; what it sees is known when it resolves. */
  readonly look: () => Promise<void>;
  /** Continues its processes and stops them no more; for a run that is asked to end. Its memory stays limited. */
  readonly release: () => void;
  /** Its processes have ended. */
  readonly end: () => void;
}

/** `stopped`: its processes are, because it is ahead. `released`: they are never stopped again. */
type Hold = "free" | "stopped" | "released" | "ended";

interface Watched {
  readonly leader: Leader;
  readonly limits: SampledLimits;
  ledger: Ledger;
  /** Monotonic milliseconds of the next sample; infinite while one is taken. */
  due: number;
  hold: Hold;
  processes: readonly ProcessStat[];
  /** Whether it was killed because of its memory. */
  isExcessive: boolean;
}

/** One timer for all runs; none while nothing runs. */
export function createWatcher(): Watcher {
  const runs = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let firesAt = Infinity;

  function arm(): void {
    const due = Math.min(...[...runs].map((run) => run.due));
    if (due >= firesAt) return;
    clearTimeout(timer);
    firesAt = due;
    timer = setTimeout(fire, Math.max(1, due - readMonotonic()));
    timer.unref();
  }

  function fire(): void {
    firesAt = Infinity;
    const now = readMonotonic();
    for (const run of runs) if (run.due <= now) void look(run).then(arm);
    arm();
  }

  return {
    watch: (leader, limits) => {
      const run = openRun(leader, limits);
      runs.add(run);
      arm();
      return {
        measure: () => measure(run),
        look: () => look(run),
        release: () => letGo(run, "released"),
        end: () => {
          letGo(run, "ended");
          runs.delete(run);
          if (runs.size > 0) return;
          clearTimeout(timer);
          firesAt = Infinity;
        },
      };
    },
  };
}

function openRun(leader: Leader, limits: SampledLimits): Watched {
  const now = readMonotonic();
  const stat = readStat(leader.stat.pid) ?? leader.stat;
  const ledger = openLedger(now, stat.cpuSeconds);
  return {
    leader,
    limits,
    ledger,
    due: now + ledger.nextMs,
    hold: "free",
    processes: [stat],
    isExcessive: false,
  };
}

async function look(run: Watched): Promise<void> {
  const begun = readMonotonic();
  run.due = Infinity;
  run.processes = await listProcesses(run.leader, run.processes);
  const memoryBytes = await measureMemory(run);
  const cpuSeconds = run.processes.reduce((sum, stat) => sum + stat.cpuSeconds, 0);
  // The times were read at the beginning: what was used since then belongs to the next sample.
  run.ledger = enterSample(run.ledger, { at: begun, cpuSeconds, memoryBytes }, run.limits);
  if (run.hold === "ended") return;
  if (memoryBytes > run.limits.memoryBytes) {
    run.isExcessive = true;
    killAll(run);
  } else if (isAhead(run.ledger)) await holdBack(run);
  else if (run.hold === "stopped") letGo(run, "free");
  const now = readMonotonic();
  const isStopped = run.hold === "stopped";
  run.due = now + planLook(run.ledger, { lookedMs: now - begun, isStopped });
}

/** What is forked meanwhile has a warden to end it, and would outlive one that was killed. */
function killAll({ leader, processes }: Watched): void {
  const killed = leader.isWarden ? processes.filter(({ pid }) => pid !== leader.stat.pid) : processes;
  signalProcesses(killed, "SIGKILL");
}

/** The sum of resident pages counts shared ones several times: below the limit it is enough, and costs little. */
async function measureMemory({ leader, limits, processes }: Watched): Promise<number> {
  const files = await measureFiles(leader, processes);
  const resident = processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const tables = await measurePageTables(processes);
  const estimate = Math.max(0, resident - leader.inheritedBytes) + files + tables;
  if (resident + files + tables <= limits.memoryBytes) return estimate;
  const exact = await measureExactly(leader, processes, files);
  return exact === null ? estimate : exact + tables;
}

async function holdBack(run: Watched): Promise<void> {
  for (let turn = 0; turn < STOP_TURNS; turn += 1) {
    if (run.hold === "released" || run.hold === "ended") return;
    run.hold = "stopped";
    signalProcesses(run.processes, "SIGSTOP");
    const { length } = run.processes;
    const processes = await listProcesses(run.leader, run.processes);
    run.processes = processes;
    if (processes.length <= length) break;
  }
  if (run.hold !== "stopped") signalProcesses(run.processes, "SIGCONT");
}

function letGo(run: Watched, hold: Exclude<Hold, "stopped">): void {
  const wasStopped = run.hold === "stopped";
  if (run.hold !== "ended") run.hold = hold;
  if (wasStopped) signalProcesses(run.processes, "SIGCONT");
}

/** The last sample, and what the kernel says of the leader and its files, for a run that is short. */
function measure({ leader, ledger, limits, isExcessive }: Watched): Usage | null {
  const { pid, start } = leader.stat;
  const stat = readStat(pid);
  const sampled = {
    peakMemoryBytes: ledger.peakBytes,
    outOfMemoryKills: isExcessive ? 1 : 0,
    isSampled: true,
  } as const;
  if (stat?.start !== start)
    return ledger.peakBytes === 0 ? null : { cpuSeconds: ledger.cpuSeconds, ...sampled };
  const files = measureFileSystems(leader);
  // Its own pages are counted with the libraries that it has mapped: they do not show that a limit was exceeded.
  const own = Math.min(readPeak(pid) - leader.inheritedBytes, limits.memoryBytes);
  return {
    cpuSeconds: Math.max(ledger.cpuSeconds, stat.cpuSeconds, readThreadSeconds(pid)),
    peakMemoryBytes: Math.max(ledger.peakBytes, own, files),
    outOfMemoryKills: isExcessive || files > limits.memoryBytes ? 1 : 0,
    isSampled: true,
  };
}
