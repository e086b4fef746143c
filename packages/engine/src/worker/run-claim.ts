import { keepTrying } from "./keep-trying.ts";
import type { Logger } from "../base/logger.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";
import { prepareClaim } from "./prepare-claim.ts";
import type { Preparation, PrepareDeps } from "./prepare-claim.ts";
import type { LogLine, NotStarted, Outcome, PythonRuntime, Run } from "../python/port/runtime.ts";
import { choosePauseSeconds, MAX_SETBACKS } from "./setbacks.ts";
import type { HealthKeeper } from "./worker-health.ts";

export interface RunClaimDeps extends PrepareDeps {
  readonly store: ExecutionStore;
  readonly runtime: PythonRuntime;
  readonly health: HealthKeeper;
  readonly logger: Logger;
  /** Its vCPUs and memory are free again; called once. */
  readonly onRoomFree: () => void;
}

/**
 * One claim on its way: starting (code and inputs are made ready, a process is found) -> running (user code may have begun) -> settling
 * (what became of it is written, again and again while its lease is kept) -> over.
 *
 * What can be started by nobody but the platform and was not, goes back into the queue; so does what this worker stops before it began.
 */
export interface ClaimRun {
  readonly claim: Claim;
  readonly phase: () => "starting" | "running" | "settling";
  /** Cancelled by its owner, lost to others, or given up before it began since the worker stops. The last is for a `starting` one. */
  readonly stop: (reason: StopReason) => void;
  /** Its lease is of no more use. Never rejects. */
  readonly settled: Promise<void>;
  /** Nothing of it is left on this worker. Never rejects. */
  readonly over: Promise<void>;
}

export type StopReason = "cancelled" | "lost" | "stopping";

/** How it ended on this worker. */
type Ending =
  | Exclude<Preparation, { readonly kind: "ready" }>
  | { readonly kind: "not started"; readonly why: NotStarted }
  | { readonly kind: "stopped" };

const CANCELLED = { code: "CANCELLED", detail: "The execution was cancelled." } as const;

export function runClaim(deps: RunClaimDeps, claim: Claim): ClaimRun {
  const { store, logger } = deps;
  const giveUp = new AbortController();
  let phase: ReturnType<ClaimRun["phase"]> = "starting";
  let stopped: StopReason | null = null;
  let run: Run | null = null;
  let onRoomFree: (() => void) | null = deps.onRoomFree;

  const freeRoom = () => {
    onRoomFree?.();
    onRoomFree = null;
  };

  const stop = (reason: StopReason) => {
    // Whatever else was asked for, a lost claim is lost.
    if (stopped === "lost" || (stopped !== null && reason !== "lost")) return;
    stopped = reason;
    if (reason === "lost" && phase !== "settling")
      logger.warn({ executionId: claim.id }, "the lease was lost; the processes are ended");
    giveUp.abort(new Error(`The execution was ${reason}.`));
    if (reason !== "stopping") run?.kill(CANCELLED);
  };

  const noteBegun = (hasBegun: boolean) => {
    if (!hasBegun) return;
    if (phase === "starting") phase = "running";
    deps.health.noteStarted(claim.versionId);
  };

  const endStopped = (reason: StopReason): Ending =>
    reason === "cancelled"
      ? { kind: "outcome", outcome: { status: "FAILED", ...CANCELLED } }
      : { kind: "stopped" };

  const reachEnding = async (): Promise<Ending> => {
    const prepared = await prepareClaim(deps, claim, giveUp.signal);
    if (stopped !== null) return endStopped(stopped);
    if (prepared.kind !== "ready") return prepared;
    run = deps.runtime.run({
      executionId: claim.id,
      timeoutSeconds: claim.timeoutSeconds,
      version: prepared.version,
      input: prepared.input,
      onLog: appendLog,
    });
    void run.ended.then(freeRoom);
    void run.began.then(noteBegun);
    const outcome = await run.outcome;
    if (outcome.status !== "NOT_STARTED") return { kind: "outcome", outcome };
    return stopped === null ? { kind: "not started", why: outcome } : endStopped(stopped);
  };

  const appendLog = async (lines: readonly LogLine[]): Promise<void> => {
    try {
      await store.appendLog(claim, lines);
    } catch (error) {
      logger.warn({ err: error, executionId: claim.id }, "log lines were lost");
    }
  };

  const settle = async (): Promise<void> => {
    const ending = await reachEnding();
    phase = "settling";
    if (stopped === "lost") return;
    const isWritten = await keepTrying(chooseWrite(deps, claim, ending), () => stopped !== "lost");
    if (isWritten || ending.kind !== "outcome") return;
    const { id, attempt } = claim;
    logger.warn(
      { executionId: id, attempt, status: ending.outcome.status },
      "the claim was no longer held; the outcome is dropped",
    );
  };

  const settled = settle().catch((error: unknown) =>
    logger.error(
      { err: error, executionId: claim.id },
      "an outcome could not be written; the lease will settle it",
    ),
  );
  const end = async (): Promise<void> => {
    await settled;
    await run?.ended;
    freeRoom();
  };
  return { claim, phase: () => phase, stop, settled, over: end() };
}

/** What to write of an ending; a fault is noted, since it says something about this worker. */
function chooseWrite({ store, health }: RunClaimDeps, claim: Claim, ending: Ending): () => Promise<boolean> {
  if (ending.kind === "outcome") return () => store.finish(claim, ending.outcome);
  if (ending.kind === "stopped") return () => store.giveBack(claim, null);
  const isPreparation = ending.kind === "fault";
  health.noteFault({
    versionId: claim.versionId,
    executionId: claim.id,
    scope: isPreparation ? ending.scope : ending.why.scope,
    cause: isPreparation ? ending.cause : new Error(ending.why.detail),
  });
  const setbacks = claim.setbacks + 1;
  if (setbacks >= MAX_SETBACKS) return () => store.finish(claim, createNotStarted(setbacks));
  return () => store.giveBack(claim, choosePauseSeconds(claim.setbacks));
}

function createNotStarted(times: number): Outcome {
  const detail = `The platform could not start the execution, ${times} times; user code did not begin. Start it again later.`;
  return { status: "FAILED", code: "NOT_STARTED", detail };
}
