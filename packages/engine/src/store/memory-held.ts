import { CLASS_WAIT_MINUTES } from "@platform/contract/policy";
import { MINUTE } from "../base/time.ts";
import { readUuidTime } from "../base/uuid.ts";
import type { DueStore } from "./held.ts";
import { BACKEND_PRIORITY } from "./kinds.ts";
import { findLimit, putIntoQueue } from "./memory-entries.ts";
import type { Entry, MemoryEntries } from "./memory-entries.ts";
import type { MemoryLimits } from "./memory-limits.ts";
import { findRank, isQueued, sortByRank } from "./memory-queue.ts";

/** Classes that others are above of, the higher first: nothing rises by two in one round. */
const LOWER = [0, -1] as const;

const PROMOTED_AT_ONCE = 500;

/** What is held until a time, and then, where its service has limits, for a place. It is a time of day: a clock that is set ahead begins what is due by it. */
export function createReleases(
  entries: MemoryEntries,
  limits: Pick<MemoryLimits, "release" | "isAnyHeld">,
): DueStore {
  return {
    releaseDue: async () => {
      const held = [...entries.byId.values()]
        .filter(isHeldForTime)
        .sort((a, b) => a.execution.startAt - b.execution.startAt);
      const now = Date.now();
      const due = held.filter(({ execution }) => execution.startAt <= now);
      for (const entry of due) {
        entry.held = findLimit(entry.execution);
        if (entry.held === null) putIntoQueue(entries, entry);
      }
      const placed = limits.release();
      promote(entries, now);
      if (due.length + placed > 0) entries.emit({ type: "pending" });
      const next = held[due.length];
      return {
        released: due.length + placed,
        // There may be places for more.
        nextMs: placed > 0 ? 0 : next === undefined ? null : next.execution.startAt - now,
        waitsForPlace: limits.isAnyHeld(),
      };
    },
  };
}

type TimedEntry = Entry & { readonly execution: { readonly startAt: number } };

function isHeldForTime(entry: Entry): entry is TimedEntry {
  return (
    entry.record.status === "PENDING" && entry.held === "START_AT" && entry.execution.startAt !== undefined
  );
}

/** What has waited for long behind a higher class gets that class, as in PostgreSQL (the platform's store/executions/promote.ts). */
function promote(entries: MemoryEntries, now: number): void {
  for (const priority of LOWER) {
    const queued = [...entries.byId.values()].filter(isQueued);
    if (!queued.some((entry) => entry.priority > priority && entry.priority < BACKEND_PRIORITY)) continue;
    const late = queued.filter((entry) => entry.priority === priority && hasWaited(entry, now));
    for (const entry of sortByRank(late).slice(0, PROMOTED_AT_ONCE)) {
      entry.priority += 1;
      entry.rank = findRank(
        entry,
        [...entries.byId.values()].filter((other) => other !== entry),
      );
    }
  }
}

/** By its id, whatever held it. */
function hasWaited({ record }: Entry, now: number): boolean {
  return now - (readUuidTime(record.id) ?? now) >= CLASS_WAIT_MINUTES * MINUTE;
}
