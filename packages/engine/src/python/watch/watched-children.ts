import type { Usage } from "../child/usage.ts";
import type { Leader } from "./family.ts";
import type { SampledLimits } from "./ledger.ts";
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
    release: (child) => watches.get(child)?.release(),
    end,
    close: () => [...leaders.keys()].forEach(end),
  };
}
