import type { Usage } from "../child/usage.ts";
import type { SampledLimits } from "./ledger.ts";
import { findLeader, findZygote } from "./run-processes.ts";
import type { Leader } from "./run-processes.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** The children of one zygote, as far as they are watched. A child in preparation is, if it imports. */
export interface WatchedChildren {
  /** The zygote says which process it is, as it numbers itself. */
  readonly open: (launched: number, number: number) => void;
  /** The zygote says which process a child is, as it numbers it. */
  readonly meet: (child: number, number: number) => void;
  /** An execution is handed over to the child. */
  readonly begin: (child: number) => void;
  /** What the execution has used; null: it is not watched. */
  readonly measure: (child: number) => Usage | null;
  /** Before a signal is sent to it: a stopped process does not take any but SIGKILL. */
  readonly release: (child: number) => void;
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
  /** Children that run, but are not known yet: what they say may arrive before what their zygote says of them. */
  const running = new Set<number>();
  let zygote: number | null = null;

  function watch(child: number): void {
    const leader = leaders.get(child);
    if (leader === undefined || watcher === null || watches.has(child)) return;
    watches.set(child, watcher.watch(leader, limits));
  }

  function end(child: number): void {
    watches.get(child)?.end();
    watches.delete(child);
    running.delete(child);
    leaders.delete(child);
  }

  return {
    open: (launched, number) => {
      if (watcher !== null) zygote ??= findZygote(launched, number);
    },
    meet: (child, number) => {
      const leader = zygote === null || leaders.has(child) ? null : findLeader(zygote, number);
      if (leader !== null) leaders.set(child, leader);
      if (running.has(child) || startMode === "spawn") watch(child);
    },
    begin: (child) => {
      if (watcher === null) return;
      running.add(child);
      watch(child);
    },
    measure: (child) => watches.get(child)?.measure() ?? null,
    release: (child) => watches.get(child)?.release(),
    end,
    close: () => [...leaders.keys()].forEach(end),
  };
}
