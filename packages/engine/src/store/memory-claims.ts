import { SECOND } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { Outcome, ProgressUpdate } from "../python/port/runtime.ts";
import { nameContents } from "../python/port/run-output.ts";
import { CANCELLED_BETWEEN, cutDetail, isRetriedWhenLost } from "./retry-rules.ts";
import type { FailedOutcome } from "./retry-rules.ts";
import { CANCELLED_BEFORE, MAX_SETBACKS, NOT_STARTED } from "./execution-store.ts";
import type { Claim, ClaimKey, ExecutionRecord, ExecutionStore, StoredResult } from "./execution-store.ts";
import { isLate, isResumed } from "./memory-entries.ts";
import type { Entry, MemoryEntries } from "./memory-entries.ts";
import { kindOf } from "./kinds.ts";
import { chooseNext, isQueued } from "./memory-queue.ts";
import { describeExceeded, getStartBy } from "./start-deadline.ts";

/** Claims and their leases. */
export function createClaims(
  entries: MemoryEntries,
): Pick<ExecutionStore, "claim" | "renew" | "sweep" | "expire"> {
  return {
    claim: async ({ kind = "service", ...request }) => {
      const { workerId, sandboxLevel, limit, free, leaseSeconds, excludedVersionIds, onlyId } = request;
      const ready = entries
        .listReady()
        .filter(
          ({ record, priority }) =>
            kindOf(priority) === kind &&
            !excludedVersionIds.includes(record.versionId) &&
            (onlyId === undefined || record.id === onlyId),
        );
      const claims: Claim[] = chooseNext(ready, limit, free).map((entry) => {
        entry.workerId = workerId;
        entry.attempt += 1;
        entry.leaseUntil = readMonotonic() + leaseSeconds * SECOND;
        forgetProgress(entry);
        entries.move(entry, { status: "RUNNING", startedAt: Date.now(), sandboxLevel });
        return toClaim(entry, workerId);
      });
      const isDrained = [...entries.byId.values()].every(
        (entry) => !isQueued(entry) || kindOf(entry.priority) !== kind,
      );
      return { claims, isDrained };
    },
    renew: async (_workerId, claims, leaseSeconds) => {
      const held = claims.flatMap((claim) => {
        const entry = entries.byId.get(claim.id);
        return entry !== undefined && isHeld(entry, claim) ? [entry] : [];
      });
      for (const entry of held) entry.leaseUntil = readMonotonic() + leaseSeconds * SECOND;
      const heldIds = new Set(held.map((entry) => entry.record.id));
      return {
        lost: claims.map((claim) => claim.id).filter((id) => !heldIds.has(id)),
        cancelled: held.filter((entry) => entry.isCancelRequested).map((entry) => entry.record.id),
        busy: [],
      };
    },
    sweep: async () => {
      const late = [...entries.byId.values()].filter(
        (entry) => entry.record.status === "RUNNING" && entry.leaseUntil < readMonotonic(),
      );
      for (const entry of late) loseWorker(entries, entry);
      return late.length;
    },
    expire: async () => {
      const late = [...entries.byId.values()].filter(isLate);
      for (const entry of late)
        entries.move(entry, { status: "FAILED", failure: describeExceeded(getStartBy(entry.record) ?? 0) });
      return late.length;
    },
  };
}

function toClaim({ execution, record, attempt, setbacks, handle }: Entry, workerId: string): Claim {
  const { attempts } = record;
  return {
    ...execution,
    attempt,
    workerId,
    setbacks,
    ...(attempts === undefined ? {} : { attempts }),
    ...(handle === null ? {} : { handle }),
  };
}

const LOST = {
  status: "UNKNOWN",
  code: "WORKER_LOST",
  detail: "The worker was lost after user code had begun.",
} as const;

function loseWorker(entries: MemoryEntries, entry: Entry): void {
  if (entry.preparingAttempt === entry.attempt) return takeBack(entries, entry, 0);
  const { retries } = entry.execution;
  const now = Date.now();
  const times = { startedAt: entry.record.startedAt ?? now, now };
  const mayGoOn = !entry.isCancelRequested || retries?.resumes === true;
  if (mayGoOn && isRetriedWhenLost({ retries, attempts: entry.attempts }, times))
    return startAgain(entries, entry, LOST, 0);
  entries.move(entry, { status: LOST.status, failure: toFailure(LOST) });
}

function startAgain(
  entries: MemoryEntries,
  entry: Entry,
  { code, detail }: FailedOutcome,
  pauseSeconds: number,
): void {
  const now = Date.now();
  const number = entry.attempts.length + 1;
  const startedAt = entry.record.startedAt ?? now;
  const failed = { number, startedAt, endedAt: now, code, detail: cutDetail(detail) };
  const attempts = [...(entry.record.attempts ?? []), failed];
  entry.attempts.push({ ...failed, attempt: entry.attempt });
  entry.workerId = null;
  entry.setbacks = 0;
  entry.notBefore = readMonotonic() + pauseSeconds * SECOND;
  forgetProgress(entry);
  entries.move(entry, { status: "PENDING", startedAt: null, sandboxLevel: null, attempts });
  entries.emit({ type: "pending" });
}

/** @param pauseSeconds null: it counts as no setback */
function takeBack(entries: MemoryEntries, entry: Entry, pauseSeconds: number | null): void {
  entry.workerId = null;
  if (pauseSeconds !== null) entry.setbacks += 1;
  entry.notBefore = readMonotonic() + (pauseSeconds ?? 0) * SECOND;
  entries.move(entry, { ...chooseState(entry), startedAt: null, sandboxLevel: null });
  entries.emit({ type: "pending" });
}

function chooseState(entry: Entry) {
  const { isCancelRequested, setbacks, attempts } = entry;
  if (isCancelRequested && !isResumed(entry))
    return {
      status: "FAILED",
      failure: attempts.length === 0 ? CANCELLED_BEFORE : CANCELLED_BETWEEN,
    } as const;
  if (setbacks >= MAX_SETBACKS) return { status: "FAILED", failure: NOT_STARTED } as const;
  return { status: "PENDING" } as const;
}

/** Writes of the holder of a claim; with a stale claim they change nothing. */
export function createEnds(
  entries: MemoryEntries,
): Pick<
  ExecutionStore,
  "finish" | "giveBack" | "retry" | "notePreparing" | "noteHandle" | "appendLog" | "noteProgress"
> {
  return {
    finish: async (claim, outcome) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined) return false;
      if (!isHeld(entry, claim)) return hasEndedSo(entry, claim, outcome);
      if (outcome.status === "SUCCEEDED") [entry.result, entry.checkpoint] = [toStored(outcome), null];
      entries.move(entry, { status: outcome.status, failure: toFailure(outcome) });
      return true;
    },
    giveBack: async (claim, pauseSeconds) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined) return false;
      if (!isHeld(entry, claim)) return wasGivenBack(entry, claim);
      takeBack(entries, entry, pauseSeconds);
      return true;
    },
    retry: async (claim, outcome, pauseSeconds) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined) return false;
      if (!isHeld(entry, claim))
        return wasRetried(entry, claim, outcome) || hasEndedSo(entry, claim, outcome);
      const goesOn = entry.execution.retries?.resumes === true && outcome.status === "UNKNOWN";
      if (entry.isCancelRequested && !goesOn)
        entries.move(entry, { status: outcome.status, failure: toFailure(outcome) });
      else startAgain(entries, entry, outcome, pauseSeconds);
      return true;
    },
    notePreparing: async (claim, isPreparing) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined || !isHeld(entry, claim)) return false;
      entry.preparingAttempt = isPreparing ? entry.attempt : null;
      return true;
    },
    noteHandle: async (claim, handle) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined || !isHeld(entry, claim)) return false;
      entry.handle = handle;
      return true;
    },
    appendLog: async (claim, lines) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined || lines.length === 0 || !isHeld(entry, claim)) return;
      for (const line of lines) entry.log.push(line);
      entries.emit({ type: "log", id: claim.id });
    },
    noteProgress: async (claim, update) => {
      const entry = entries.byId.get(claim.id);
      if (entry === undefined || !isHeld(entry, claim)) return false;
      noteProgress(entry, update);
      entries.emit({ type: "progress", id: claim.id });
      return true;
    },
  };
}

/** Of an attempt before, but for the checkpoint of one that has run. */
function forgetProgress(entry: Entry): void {
  const { progress, ...record } = entry.record;
  const isKept = entry.attempts.length > 0 && entry.checkpoint !== null;
  if (!isKept) entry.checkpoint = null;
  entry.record =
    isKept && progress !== undefined
      ? { ...record, progress: { ...progress, fraction: null, message: null } }
      : record;
}

function noteProgress(entry: Entry, { progress, checkpoint }: ProgressUpdate): void {
  const at = Date.now();
  const before = entry.record.progress ?? NOTHING_REPORTED;
  const checkpointAt = checkpoint === null ? before.checkpointAt : at;
  entry.record = { ...entry.record, progress: { ...before, ...progress, at, checkpointAt } };
  entry.checkpoint = checkpoint ?? entry.checkpoint;
}

const NOTHING_REPORTED = { fraction: null, message: null, checkpointAt: null };

function isHeld(entry: Entry, claim: ClaimKey): boolean {
  return entry.record.status === "RUNNING" && isOfClaim(entry, claim);
}

function isOfClaim(entry: Entry, claim: ClaimKey): boolean {
  return entry.workerId === claim.workerId && entry.attempt === claim.attempt;
}

function hasEndedSo({ record, ...entry }: Entry, claim: ClaimKey, { status }: Outcome): boolean {
  return record.status === status && entry.workerId === claim.workerId && entry.attempt === claim.attempt;
}

function wasRetried({ attempts }: Entry, { attempt }: ClaimKey, { code }: FailedOutcome): boolean {
  return attempts.some((failed) => failed.attempt === attempt && failed.code === code);
}

function wasGivenBack({ attempt, workerId }: Entry, claim: ClaimKey): boolean {
  return attempt > claim.attempt || (attempt === claim.attempt && workerId === null);
}

function toStored({ result, metadata, output }: Extract<Outcome, { status: "SUCCEEDED" }>): StoredResult {
  if (output === undefined) return { result, metadata };
  return { result, metadata, output: nameContents(output) };
}

function toFailure(outcome: Outcome): ExecutionRecord["failure"] {
  if (outcome.status === "SUCCEEDED") return null;
  if (outcome.status === "UNKNOWN") return { code: outcome.code, detail: outcome.detail };
  const { status: _, ...failure } = outcome;
  return failure;
}
