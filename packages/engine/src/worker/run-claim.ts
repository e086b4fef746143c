import { growPause } from "../base/backoff.ts";
import type { Logger } from "../base/logger.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { MINUTE, SECOND } from "../base/time.ts";
import type { RunTrace, Tracer } from "../base/tracer.ts";
import { readUuidTime } from "../base/uuid.ts";
import { CANCELLED, isStarting, PREPARING, reduceClaim } from "./claim-machine.ts";
import type { ClaimEffect, ClaimEvent, ClaimState, Ending, StopReason } from "./claim-machine.ts";
import { MAX_SETBACKS, NOT_STARTED } from "../store/execution-store.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";
import { keepOutput } from "./keep-output.ts";
import type { KeepDeps } from "./keep-output.ts";
import { keepTrying } from "../base/keep-trying.ts";
import { dropOutput, getOutput } from "../python/port/run-output.ts";
import { describeAttempt } from "../store/retry-rules.ts";
import { attendExternal } from "./keep-handle.ts";
import { createProgressKeeper } from "./note-progress.ts";
import type { ProgressKeeper } from "./note-progress.ts";
import { discardPreparation, prepareClaim } from "./prepare-claim.ts";
import type { Preparation, PrepareDeps } from "./prepare-claim.ts";
import { planRetry } from "./plan-retry.ts";
import type { Retry } from "./plan-retry.ts";
import type {
  LogLine,
  NotStarted,
  Outcome,
  PythonRuntime,
  QuantumAccess,
  Run,
} from "../python/port/runtime.ts";
import type { HealthKeeper } from "./worker-health.ts";
import type { WorkerObserver } from "./worker-observer.ts";

/*
 * A claim that could not be started goes back into the queue: for another worker, or for this one when it has recovered. The limit ensures
 * that an execution that no worker can start does not wait without end.
 */

/** Until an execution with this many previous setbacks can be claimed again: 1, 3, 9 ... 300 seconds, each less up to a quarter, by chance. */
const SETBACK_PAUSE = { firstMs: 1 * SECOND, ceilingMs: 300 * SECOND, factor: 3 };

/** Bounds the tries to write an ending: a store that renews leases but never accepts this write must not keep an execution RUNNING without end. */
const WRITE_FOR_MS = 15 * MINUTE;

/** What an execution may use the quantum API with, made anew for each attempt. */
export type OpenQuantum = (claim: Pick<Claim, "id" | "attempt">) => QuantumAccess;

/** What all claims of a worker share; put together by the dispatcher. */
export interface RunClaimDeps extends PrepareDeps, KeepDeps {
  readonly store: ExecutionStore;
  readonly runtime: Pick<PythonRuntime, "run" | "stageInputs">;
  readonly health: HealthKeeper;
  readonly observer: WorkerObserver;
  readonly tracer: Tracer;
  /** Missing: executions get no access to the quantum API. */
  readonly openQuantum?: OpenQuantum;
  readonly logger: Logger;
}

/** Notifications of a claim to its worker, once each. */
export interface ClaimListener {
  /** Its lease is not needed any more. */
  readonly onRelease: () => void;
  /** Its vCPUs and memory are free again. */
  readonly onFree: () => void;
  /** Nothing is left of it on this worker. */
  readonly onLeave: () => void;
}

/** Runs one claim; `claim-machine.ts` has the rules. */
export interface ClaimRun {
  readonly claim: Claim;
  /** Whether user code has not begun and can still be prevented from beginning. */
  readonly isStarting: () => boolean;
  /** `stopping` applies only to executions that have not begun. */
  readonly stop: (reason: StopReason) => void;
}

interface ClaimRunState {
  readonly deps: RunClaimDeps;
  readonly claim: Claim;
  readonly listener: ClaimListener;
  readonly preparing: AbortController;
  readonly trace: RunTrace;
  readonly progress: ProgressKeeper;
  state: ClaimState;
  run: Run | null;
  /** Was asked for before the code of an attempt that is to look after something elsewhere had begun. */
  isCancelledLater: boolean;
  /** When user code may have begun, and for how long it ran; monotonic milliseconds. */
  beganAt: number | null;
  ranMs: number | null;
}

/** Begins to prepare the claim at once. Never throws. */
export function runClaim(deps: RunClaimDeps, claim: Claim, listener: ClaimListener): ClaimRun {
  const preparing = new AbortController();
  const progress = createProgressKeeper(deps, claim);
  const self: ClaimRunState = {
    deps,
    claim,
    listener,
    preparing,
    trace: deps.tracer.run(claim),
    progress,
    state: PREPARING,
    run: null,
    isCancelledLater: false,
    beganAt: null,
    ranMs: null,
  };
  void prepare(self);
  return {
    claim,
    isStarting: () => isStarting(self.state),
    stop: (reason) => stop(self, reason),
  };
}

/** What an attempt before may have begun elsewhere is cancelled by the code alone: it has to run for that. */
function stop(self: ClaimRunState, reason: StopReason): void {
  const { retries, attempts } = self.claim;
  const isResumed = retries?.resumes === true && attempts !== undefined;
  if (reason === "cancelled" && isResumed && isStarting(self.state)) self.isCancelledLater = true;
  else dispatch(self, { type: "stop", reason });
}

async function prepare(self: ClaimRunState): Promise<void> {
  const preparation = await prepareClaim(self.deps, self.claim, self.preparing.signal);
  dispatch(self, { type: "prepared", preparation });
  // It was stopped meanwhile, or could not be handed over.
  if (self.run === null) discardPreparation(preparation);
}

/** Not by `runMachine`: one for each claim took 9 us more of 114 us that this worker spends on an execution (a loop without Python). */
function dispatch(self: ClaimRunState, event: ClaimEvent): void {
  const { state, effects } = reduceClaim(self.state, event);
  self.state = state;
  for (const effect of effects) perform(self, effect);
}

function perform(self: ClaimRunState, effect: ClaimEffect): void {
  const { deps, claim, listener } = self;
  switch (effect.type) {
    case "handOver":
      return handOver(self, effect.ready);
    case "stopPreparing":
      return self.preparing.abort(new Error(`The execution was ${effect.reason}.`));
    case "kill":
      return self.run?.kill(CANCELLED);
    case "logLost":
      return deps.logger.warn({ executionId: claim.id }, "the lease was lost; the processes are ended");
    case "noteStarted":
      return noteStarted(self);
    case "write":
      return void writeEnding(self, effect.ending).then(() => dispatch(self, { type: "written" }));
    case "release":
      return listener.onRelease();
    case "free":
      return listener.onFree();
    case "leave":
      // Unless its end was written.
      self.trace.end("LOST", null);
      listener.onLeave();
  }
}

function handOver(self: ClaimRunState, ready: Extract<Preparation, { readonly kind: "ready" }>): void {
  const { deps, claim } = self;
  const trace = self.trace.handOver();
  const attempt = describeAttempt(claim);
  if (attempt !== null)
    void appendLog(deps, claim, [{ time: Date.now(), severity: "INFO", message: attempt }]);
  try {
    const run = deps.runtime.run({
      executionId: claim.id,
      attempt: (claim.attempts?.length ?? 0) + 1,
      timeoutSeconds: claim.timeoutSeconds,
      version: ready.version,
      input: ready.input,
      ...(claim.outputPool === undefined ? {} : { outputPool: claim.outputPool }),
      ...(trace === null ? {} : { trace }),
      ...(deps.openQuantum === undefined ? {} : { quantum: deps.openQuantum(claim) }),
      onLog: (lines) => appendLog(deps, claim, lines),
      onProgress: self.progress.note,
      ...(ready.version.isExternal === true
        ? { external: attendExternal(deps, claim, () => isHeld(self)) }
        : {}),
    });
    self.run = run;
    void run.ended.then(() => dispatch(self, { type: "gone" }));
    void run.began.then((hasBegun) => hasBegun && dispatch(self, { type: "began" }));
    void run.outcome.then((answer) => takeAnswer(self, answer));
  } catch (error) {
    deps.logger.error(
      { err: error, executionId: claim.id },
      "an execution could not be handed to Python; its lease will run out",
    );
    dispatch(self, { type: "broken" });
  }
}

function noteStarted(self: ClaimRunState): void {
  const { id, versionId } = self.claim;
  self.beganAt = readMonotonic();
  self.deps.health.noteStarted(versionId);
  const now = Date.now();
  self.deps.observer.began(versionId, Math.max(0, now - (readUuidTime(id) ?? now)));
  if (self.isCancelledLater) dispatch(self, { type: "stop", reason: "cancelled" });
}

function isHeld({ state }: ClaimRunState): boolean {
  return (state.name === "starting" || state.name === "running") && state.stopped !== "lost";
}

function takeAnswer(self: ClaimRunState, answer: Outcome | NotStarted): void {
  if (self.beganAt !== null) self.ranMs = readMonotonic() - self.beganAt;
  dispatch(self, { type: "answered", answer });
  // Of a claim that was lost, nothing is written.
  if (self.state.name !== "writing") dropOutput(getOutput(answer));
}

async function appendLog({ store, logger }: RunClaimDeps, claim: Claim, lines: readonly LogLine[]) {
  try {
    await store.appendLog(claim, lines);
  } catch (error) {
    logger.warn({ err: error, executionId: claim.id }, "log lines were lost");
  }
}

/** Never rejects. */
async function writeEnding(self: ClaimRunState, ending: Ending): Promise<void> {
  const { deps, claim } = self;
  const { id, attempt } = claim;
  const isHeld = () => self.state.name === "writing";
  try {
    const retry = await planRetry(self, ending);
    const kept = await keepEnding(deps, { claim, ending }, isHeld);
    const isWritten =
      kept !== null && (await keepTrying(chooseWrite(self, kept, retry), isHeld, WRITE_FOR_MS));
    if (isWritten) observeEnding(self, kept, retry);
    if (isWritten || ending.kind !== "outcome") return;
    deps.logger.warn(
      { executionId: id, attempt, status: ending.outcome.status },
      "the claim was no longer held; the outcome is dropped",
    );
  } catch (error) {
    deps.logger.error(
      { err: error, executionId: id },
      "an outcome could not be written; the execution becomes UNKNOWN when its lease expires",
    );
  } finally {
    if (ending.kind === "outcome") dropOutput(getOutput(ending.outcome));
  }
}

/** The ending to be written, once what it names is kept; null where the claim was lost meanwhile. Without a promise where there is nothing to keep. */
function keepEnding(
  deps: RunClaimDeps,
  { claim, ending }: { readonly claim: Claim; readonly ending: Ending },
  isHeld: () => boolean,
): Ending | Promise<Ending | null> {
  if (ending.kind !== "outcome" || getOutput(ending.outcome) === undefined) return ending;
  return keepOutput(deps, { claim, outcome: ending.outcome }, isHeld).then((outcome) =>
    outcome === null ? null : { ...ending, outcome },
  );
}

function observeEnding(
  { deps, claim, trace, ranMs }: ClaimRunState,
  ending: Ending,
  retry: Retry | null,
): void {
  const { observer } = deps;
  const { versionId } = claim;
  if (retry !== null) {
    trace.end("PENDING", retry.outcome.code);
    return observer.gaveBack("retry");
  }
  const end = describeEnd(claim, ending);
  trace.end(end.status, end.code);
  if (end.status === "PENDING") observer.gaveBack(ending.kind === "stopped" ? "stop" : "fault");
  else observer.ended({ versionId, status: end.status, code: end.code, ranMs });
}

/** What the execution is now; PENDING: it went back to the queue. */
function describeEnd(
  claim: Claim,
  ending: Ending,
): { readonly status: Outcome["status"] | "PENDING"; readonly code: string | null } {
  if (ending.kind === "outcome") {
    const { outcome } = ending;
    return { status: outcome.status, code: outcome.status === "SUCCEEDED" ? null : outcome.code };
  }
  const isOver = ending.kind === "fault" && isLastSetback(claim);
  return isOver ? { status: "FAILED", code: NOT_STARTED.code } : { status: "PENDING", code: null };
}

function isLastSetback({ setbacks }: Claim): boolean {
  return setbacks + 1 >= MAX_SETBACKS;
}

/** The write for an ending. A fault is also noted in the worker's health. */
function chooseWrite(
  { deps, claim, progress }: ClaimRunState,
  ending: Ending,
  retry: Retry | null,
): () => Promise<boolean> {
  const { store, health } = deps;
  if (retry !== null) return progress.before(() => store.retry(claim, retry.outcome, retry.pauseSeconds));
  if (ending.kind === "outcome") return progress.before(() => store.finish(claim, ending.outcome));
  if (ending.kind === "stopped") return () => store.giveBack(claim, null);
  const { scope, cause } = ending;
  health.noteFault({ versionId: claim.versionId, executionId: claim.id, scope, cause });
  if (isLastSetback(claim)) return () => store.finish(claim, { status: "FAILED", ...NOT_STARTED });
  return () => store.giveBack(claim, chooseSetbackSeconds(claim.setbacks));
}

/** Less jitter than `computePause` has: eight tries must last about as long as is promised. */
function chooseSetbackSeconds(setbacks: number): number {
  return (growPause(SETBACK_PAUSE, setbacks) * (1 - 0.25 * Math.random())) / SECOND;
}
