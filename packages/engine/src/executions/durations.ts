import { createCache } from "../base/cache.ts";
import { createGlimpse } from "../base/glimpse.ts";
import { SECOND } from "../base/time.ts";
import type { ExecutionRecord, ExecutionStore } from "../store/execution-store.ts";

/** How long runs of a version take, in milliseconds, by the last ones of the same owner that succeeded. */
export interface Durations {
  /** Half of them, and nine of ten, took no longer. */
  readonly typical: number;
  readonly long: number;
}

/** Of these last executions of an owner, of all versions. */
const LAST = 100;
const READ_EVERY_MS = 15 * SECOND;
const BELIEVED_MS = 120 * SECOND;
/** Owners whose durations are known at the same time. */
const MAX_OWNERS = 1_000;

/** Returns a function that says, without waiting, how long runs as this one take; null: not known, or not yet. */
export function createDurations(
  store: Pick<ExecutionStore, "list">,
  now: () => number,
): (record: ExecutionRecord) => Durations | null {
  const owners = createCache<() => ReadonlyMap<string, Durations> | null>({ maxEntries: MAX_OWNERS, now });
  return ({ ownerId, versionId }) => {
    let read = owners.peek(ownerId);
    if (read === undefined) {
      read = createGlimpse(() => readOwner(store, ownerId), {
        everyMs: READ_EVERY_MS,
        believedMs: BELIEVED_MS,
        now,
      });
      owners.set(ownerId, read);
    }
    return read()?.get(versionId) ?? null;
  };
}

async function readOwner(
  store: Pick<ExecutionStore, "list">,
  ownerId: string,
): Promise<ReadonlyMap<string, Durations>> {
  const { items } = await store.list(ownerId, { status: "SUCCEEDED", limit: LAST });
  const runs = new Map<string, number[]>();
  for (const { versionId, startedAt, endedAt } of items) {
    if (startedAt === null || endedAt === null) continue;
    const durations = runs.get(versionId) ?? [];
    durations.push(Math.max(0, endedAt - startedAt));
    runs.set(versionId, durations);
  }
  return new Map([...runs].map(([versionId, durations]) => [versionId, measure(durations)]));
}

/** @param durations at least one */
function measure(durations: readonly number[]): Durations {
  const sorted = [...durations].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { typical: at(0.5), long: at(0.9) };
}
