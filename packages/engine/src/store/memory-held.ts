import type { DueStore } from "./held.ts";
import type { Entry, MemoryEntries } from "./memory-entries.ts";
import { findRank } from "./memory-queue.ts";

/** What is held until a time. It is a time of day: a clock that is set ahead begins what is due by it. */
export function createReleases(entries: MemoryEntries): DueStore {
  return {
    releaseDue: async () => {
      const held = [...entries.byId.values()]
        .filter(isHeldForTime)
        .sort((a, b) => a.execution.startAt - b.execution.startAt);
      const now = Date.now();
      const due = held.filter(({ execution }) => execution.startAt <= now);
      for (const entry of due) {
        // One turn later than one that starts now: it is older than those whose turn it is.
        entry.rank = findRank(entry.execution, entries.byId.values()) + 1;
        entry.held = null;
      }
      if (due.length > 0) entries.emit({ type: "pending" });
      const next = held[due.length];
      return {
        released: due.length,
        nextMs: next === undefined ? null : next.execution.startAt - now,
        waitsForPlace: false,
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
