import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "@platform/engine/base/bytes";
import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { ExecutionStore } from "@platform/engine/store/execution-store";

/** What the quota works with. */
interface ResultQuotaOptions {
  /** What the kept content of an organisation's results takes. */
  readonly sumBytes: (organisationId: string) => Promise<number>;
  /** Of one organisation. */
  readonly quotaBytes: number;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

interface Known {
  readonly bytes: number;
  readonly askedAt: number;
}

/** So old may a sum be: what ends in that time comes on top of the quota. */
const ASKED_EVERY = 30 * SECOND;
const MAX_ORGANISATIONS = 20_000;
const RETRY_AFTER_SECONDS = "300";

/**
 * The same store, which refuses starts of organisations whose results take all that they may. Nothing is taken back of an execution that was
 * accepted, and a start waits for no sum: it is asked for in the background, by the starts themselves.
 */
export function limitResults<S extends ExecutionStore>(store: S, options: ResultQuotaOptions): S {
  const { sumBytes, quotaBytes, now = readMonotonic } = options;
  const known = createCache<Known>({ maxEntries: MAX_ORGANISATIONS, now });
  const readBytes = (organisationId: string): number => {
    const { bytes, askedAt } = known.peek(organisationId) ?? { bytes: 0, askedAt: -Infinity };
    const at = now();
    if (at - askedAt < ASKED_EVERY) return bytes;
    known.set(organisationId, { bytes, askedAt: at });
    // A sum that cannot be had is asked for again by a later start.
    sumBytes(organisationId).then(
      (sum) => known.set(organisationId, { bytes: sum, askedAt: at }),
      () => undefined,
    );
    return bytes;
  };
  return {
    ...store,
    create: async (execution) => {
      const bytes = readBytes(execution.owner.organisationId);
      if (bytes >= quotaBytes) throw refuse(bytes, quotaBytes);
      return store.create(execution);
    },
  };
}

function refuse(bytes: number, quotaBytes: number): Problem {
  return new Problem(
    "QUOTA_EXCEEDED",
    `The results of your organisation above 1 MB and their files take ${formatGigabytes(bytes)} GB, and may take ${formatGigabytes(quotaBytes)} GB; they go when their executions expire.`,
    { headers: { "retry-after": RETRY_AFTER_SECONDS } },
  );
}
