import type { LogEntry } from "@platform/contract/execution";
import { randomUUID } from "node:crypto";
import { createUuidV7, getLowestUuid } from "../base/uuid.ts";
import type {
  Claim,
  ClaimRequest,
  ExecutionRecord,
  ExecutionStore,
  LogPage,
  NewExecution,
} from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import type { LogLine, Outcome } from "../python/port/runtime.ts";
import { waitUntil } from "./wait-until.ts";

/** Leases that a test sees end, and that end in no test, in seconds; conditions are waited for, never times. */
export const SHORT_LEASE = 0.05;
export const LONG_LEASE = 3600;
export const SMALL = { cpu: 1, memory: 1 };
export const PLENTY = { cpu: 1_000_000, memory: 1_000_000 };

export type Use = () => ExecutionStore;

/** A subscription of some organisation. */
export function createOwner(id: string = randomUUID()): Owner {
  return { kind: "subscription", id, organisationId: randomUUID() };
}

/** An id as it would have been made at that time, in milliseconds since the epoch. */
export function createUuidAt(time: number): string {
  return `${getLowestUuid(time).slice(0, 13)}${createUuidV7().slice(13)}`;
}

export function createExecution(overrides: Partial<NewExecution> = {}): NewExecution {
  return {
    id: createUuidV7(),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: SMALL,
    timeoutSeconds: 60,
    body: Buffer.from('{"data":{"n":1}}'),
    references: {},
    ...overrides,
  };
}

/** As if it had just been claimed, for the first time. */
export function createClaimOf(workerId: string): Claim {
  return { ...createExecution(), attempt: 1, workerId, setbacks: 0 };
}

export function request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    workerId: "worker",
    sandboxLevel: "B",
    limit: 1000,
    free: PLENTY,
    leaseSeconds: LONG_LEASE,
    excludedVersionIds: [],
    ...overrides,
  };
}

/** Takes whatever earlier tests have left in the queue out of the way. */
export async function emptyQueue(store: ExecutionStore): Promise<void> {
  await waitUntil(async () => {
    const services = await store.claim(request({ workerId: "emptier" }));
    const backends = await store.claim(request({ workerId: "emptier", kind: "backend" }));
    const claims = [...services.claims, ...backends.claims];
    await finishAll(store, claims);
    return claims.length === 0;
  });
}

export async function finishAll(store: ExecutionStore, claims: readonly Claim[]): Promise<void> {
  await Promise.all(claims.map((claim) => store.finish(claim, SUCCEEDED)));
}

export async function start(
  store: ExecutionStore,
  overrides: Partial<NewExecution> = {},
  leaseSeconds = LONG_LEASE,
): Promise<{ execution: NewExecution; claim: Claim }> {
  await emptyQueue(store);
  const execution = createExecution(overrides);
  await store.create(execution);
  const [claim] = (await store.claim(request({ leaseSeconds }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return { execution, claim };
}

export async function read(store: ExecutionStore, { id, owner }: NewExecution): Promise<ExecutionRecord> {
  const record = await store.find(id, owner.id);
  if (record === null) throw new Error(`There is no execution ${id}.`);
  return record;
}

/** Sweeps until the execution, which runs with a short lease, is no longer held by its worker. */
export async function loseWorker(store: ExecutionStore, execution: NewExecution): Promise<void> {
  const { status } = await read(store, execution);
  if (status !== "RUNNING") throw new Error(`Its worker holds it no more: it is ${status}.`);
  await waitUntil(async () => {
    await store.sweep();
    return (await read(store, execution)).status !== "RUNNING";
  });
}

export const SUCCEEDED: Outcome = { status: "SUCCEEDED", result: Buffer.from('{"sum":3}'), metadata: null };
export const FAILED: Outcome = { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: no" };
export const NUL_DETAIL: Outcome = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: "a \0 b \u{1F600} \uD800",
};
export const VANISHED: Outcome = { status: "UNKNOWN", code: "WORKER_LOST", detail: "It was lost." };

export function createLine(message: string, severity: LogLine["severity"] = "INFO"): LogLine {
  return { time: Date.UTC(2026, 10, 20, 21, 17, 5, 999), severity, message };
}

export function parseLog(page: LogPage | null): readonly LogEntry[] | null {
  return page === null ? null : (JSON.parse(Buffer.from(page.lines).toString()) as LogEntry[]);
}
