import { createHash } from "node:crypto";
import type { ExecutionRecord, NewExecution } from "./execution-store.ts";
import type { ForeseenStart, StartOutlook } from "./start-outlook.ts";

/** For so long a key names what it has started. */
export const KEPT_HOURS = 24;

/** What a start is remembered by: neither the key nor the request is stored. Both have the form of a UUID: half of a SHA-256. */
export interface IdempotencyKey {
  readonly keyHash: string;
  /** Of all that decides what is started: another one under the same key is a conflict. */
  readonly requestHash: string;
}

/** How executions are created. */
export interface StartStore {
  /**
   * Stored durably when it resolves, together with its key. Repeating it with the same id changes nothing; with the key of an earlier start
   * neither, and resolves to what that has created.
   *
   * @throws Problem QUOTA_EXCEEDED; IDEMPOTENCY_CONFLICT when the key was used with another request
   */
  readonly create: (execution: NewExecution) => Promise<ExecutionRecord>;
  /** What `create` would find now; nothing is changed, and no row is locked. @throws Problem that it would throw */
  readonly foresee: (start: ForeseenStart) => Promise<StartOutlook>;
  /** What a key of the last KEPT_HOURS has started, also if it was removed since; null: nothing. @throws Problem IDEMPOTENCY_CONFLICT */
  readonly findStarted: (ownerId: string, key: IdempotencyKey) => Promise<ExecutionRecord | null>;
}

/** @param target what the request names besides its body, as text */
export function createIdempotencyKey(key: string, target: string, body: Uint8Array): IdempotencyKey {
  return { keyHash: hash(key), requestHash: hash(target, body) };
}

const UUID_DIGITS = 32;

function hash(text: string, bytes?: Uint8Array): string {
  const sum = createHash("sha256").update(`${text.length} ${text}`);
  if (bytes !== undefined) sum.update(bytes);
  const digits = sum.digest("hex").slice(0, UUID_DIGITS);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The first answer to a start whose execution was removed since; nothing is known of it but its id. */
export function toFirstAnswer(known: Pick<ExecutionRecord, "id" | "ownerId" | "createdAt">): ExecutionRecord {
  return {
    ...known,
    versionId: "",
    resources: { cpu: 0, memory: 0 },
    status: "PENDING",
    startedAt: null,
    endedAt: null,
    sandboxLevel: null,
    failure: null,
  };
}
