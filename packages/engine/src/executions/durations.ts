import { createCache } from "../base/cache.ts";
import { createGlimpse } from "../base/glimpse.ts";
import type { Glimpse } from "../base/glimpse.ts";
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

/** Whose runs, of what. */
type Asked = Pick<ExecutionRecord, "ownerId" | "versionId">;

/** Says how long runs as this one take; null: not known, or not yet. */
export interface KnownDurations {
  /** Without waiting. */
  (asked: Asked): Durations | null;
  /** Once they have been read. */
  readonly settle: (asked: Asked) => Promise<Durations | null>;
}

/** The durations of all owners, each read while it is asked for. */
export function createDurations(store: Pick<ExecutionStore, "list">, now: () => number): KnownDurations {
  const owners = createCache<Glimpse<ReadonlyMap<string, Durations>>>({ maxEntries: MAX_OWNERS, now });
  const find = (ownerId: string): Glimpse<ReadonlyMap<string, Durations>> => {
    let read = owners.peek(ownerId);
    if (read === undefined) {
      read = createGlimpse(() => readOwner(store, ownerId), {
        everyMs: READ_EVERY_MS,
        believedMs: BELIEVED_MS,
        now,
      });
      owners.set(ownerId, read);
    }
    return read;
  };
  const glance = ({ ownerId, versionId }: Asked) => find(ownerId)()?.get(versionId) ?? null;
  const settle = async ({ ownerId, versionId }: Asked) =>
    (await find(ownerId).settle())?.get(versionId) ?? null;
  return Object.assign(glance, { settle });
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
