import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { HOUR } from "../base/time.ts";
import { KEPT_HOURS } from "./idempotency.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import type { ExecutionRecord } from "./execution-store.ts";

/** Maximum number of keys in memory; the oldest are removed first. */
const MAX_KEYS = 20_000;

/** What a key has started. */
type Started = Pick<ExecutionRecord, "id" | "ownerId" | "createdAt">;

/** The idempotency keys of the store in memory. */
export interface MemoryKeys {
  /** Null: the key has started nothing. @throws Problem IDEMPOTENCY_CONFLICT */
  readonly find: (ownerId: string, key: IdempotencyKey) => Started | null;
  readonly add: (key: IdempotencyKey, started: Started) => void;
}

const nameOf = (ownerId: string, { keyHash }: IdempotencyKey) => `${keyHash} ${ownerId}`;

/** @param now milliseconds since any fixed moment */
export function createMemoryKeys(now: () => number = readMonotonic): MemoryKeys {
  const keys = new Map<string, Started & { readonly requestHash: string; readonly until: number }>();
  return {
    find: (ownerId, key) => {
      const known = keys.get(nameOf(ownerId, key));
      if (known === undefined || known.until <= now()) return null;
      if (known.requestHash !== key.requestHash) throw new Problem("IDEMPOTENCY_CONFLICT");
      const { id, createdAt } = known;
      return { id, ownerId, createdAt };
    },
    add: (key, { id, ownerId, createdAt }) => {
      const name = nameOf(ownerId, key);
      // Behind the others, where one that is too old is replaced.
      keys.delete(name);
      const { requestHash } = key;
      keys.set(name, { id, ownerId, createdAt, requestHash, until: now() + KEPT_HOURS * HOUR });
      const [oldest] = keys.keys();
      if (keys.size > MAX_KEYS && oldest !== undefined) keys.delete(oldest);
    },
  };
}
