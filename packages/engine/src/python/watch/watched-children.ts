import type { Usage } from "../child/usage.ts";
import type { Leader } from "./family.ts";
import type { SampledLimits } from "./ledger.ts";
import { hasThreads, readStat } from "./process-files.ts";
import type { ProcessStat } from "./process-files.ts";
import { signalProcesses } from "./run-processes.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** The children of one zygote, as far as they are watched. A child in preparation is, if it imports. */
export interface WatchedChildren {
  /** Which process a child is; the first one counts. */
  readonly meet: (child: number, leader: Leader) => void;
  /** An execution is handed over to a child that was met. */
  readonly begin: (child: number) => void;
  /** What the execution has used; null: it is not watched. */
  readonly measure: (child: number) => Usage | null;
  /** Before a signal is sent to it: a stopped process does not take any but SIGKILL. */
  readonly release: (child: number) => void;
  /** Kills the process of a child that was met, if it has not ended; whether it has not. */
  readonly isEnding: (child: number) => boolean;
  readonly end: (child: number) => void;
  /** The zygote has ended with all its children. */
  readonly close: () => void;
}

/**
 * @param watcher null where the kernel enforces the limits, and where processes cannot be watched
 * @param startMode with `spawn`, each child imports the version itself
 */
export function createWatchedChildren(
  watcher: Watcher | null,
  limits: SampledLimits,
  startMode: "auto" | "spawn",
): WatchedChildren {
  const leaders = new Map<number, Leader>();
  const watches = new Map<number, Watch>();

  function watch(child: number): void {
    const leader = leaders.get(child);
    if (leader === undefined || watcher === null || watches.has(child)) return;
    watches.set(child, watcher.watch(leader, limits));
  }

  function end(child: number): void {
    watches.get(child)?.end();
    watches.delete(child);
    leaders.delete(child);
  }

  return {
    meet: (child, leader) => {
      if (leaders.has(child)) return;
      leaders.set(child, leader);
      if (startMode === "spawn") watch(child);
    },
    begin: watch,
    measure: (child) => watches.get(child)?.measure() ?? null,
    isEnding: (child) => {
      const leader = leaders.get(child);
      if (leader === undefined || !isSame(leader.stat)) return false;
      signalProcesses([leader.stat], "SIGKILL");
      return true;
    },
    release: (child) => watches.get(child)?.release(),
    end,
    close: () => [...leaders.keys()].forEach(end),
  };
}

/** Not one that only waits to be asked for its end. */
function isSame({ pid, start }: ProcessStat): boolean {
  return readStat(pid)?.start === start && hasThreads(pid);
}
