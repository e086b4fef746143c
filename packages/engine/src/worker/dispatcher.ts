import type { ProjectKind, Resources } from "@platform/contract/project";
import type { SandboxLevel } from "@platform/contract/sandbox";
import { spreadInterval } from "../base/backoff.ts";
import { SECOND } from "../base/time.ts";
import { createDeferred } from "../base/deferred.ts";
import type { Deferred } from "../base/deferred.ts";
import type { Logger } from "../base/logger.ts";
import { runMachine } from "../base/machine.ts";
import type { Machine } from "../base/machine.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { createTimers } from "../base/timers.ts";
import { NO_TRACER } from "../base/tracer.ts";
import type { Tracer } from "../base/tracer.ts";
import type { Timers } from "../base/timers.ts";
import type { JsonCheck } from "../json-check/json-check.ts";
import type { PythonRuntime } from "../python/port/runtime.ts";
import { createLeaseKeeper } from "../queue/lease-keeper.ts";
import type { LeaseKeeper } from "../queue/lease-keeper.ts";
import { createTakeLoop } from "../queue/take-loop.ts";
import type { TakeLoop } from "../queue/take-loop.ts";
import type { TakeResult } from "../queue/take-machine.ts";
import type {
  Claim,
  ClaimAnswer,
  ClaimKey,
  ClaimRequest,
  ExecutionStore,
  InputSource,
  StoreEvent,
  VersionSource,
} from "../store/execution-store.ts";
import type { StopReason } from "./claim-machine.ts";
import { createDispatchState, readFree, reduceDispatch } from "./dispatch-machine.ts";
import type { DispatchEffect, DispatchEvent, DispatchState } from "./dispatch-machine.ts";
import { createReserver } from "./reservation.ts";
import type { Reserver } from "./reservation.ts";
import { runClaim } from "./run-claim.ts";
import type { ClaimRun, OpenQuantum, RunClaimDeps } from "./run-claim.ts";
import { createHealthKeeper } from "./worker-health.ts";
import { NO_WORKER_OBSERVER } from "./worker-observer.ts";
import type { WorkerObserver } from "./worker-observer.ts";

const POLL_MS = 1 * SECOND;
/** Interval of the worker's reports, which also request an execution to reserve capacity for. Milliseconds. */
const REPORT_MS = 1 * SECOND;
/** Rows locked by one claim: more would only be given back, since all must fit together. */
const CLAIM_LIMIT = 32;

/** What a worker runs, with which capacity, and where it gets its work. */
export interface DispatcherOptions {
  readonly store: ExecutionStore;
  readonly versions: VersionSource;
  readonly inputs: InputSource;
  /** Closed by its creator, not by the dispatcher. */
  readonly runtime: Pick<PythonRuntime, "run" | "stageInputs">;
  readonly workerId: string;
  /** Whose executions it runs; default: of services. */
  readonly kind?: ProjectKind;
  /** How well `runtime` isolates user code. */
  readonly sandboxLevel: SandboxLevel;
  /** The vCPUs and GB that all runs of this worker may use together. */
  readonly capacity: Resources;
  readonly leaseSeconds: number;
  /** Capacity is reserved for an execution that has waited this long; default 10. */
  readonly reservesAfterSeconds?: number;
  /** Whether this host can accept no more work at present for a reason other than vCPUs and memory (low disk space). Missing: it always can. */
  readonly isHeldUp?: () => boolean;
  readonly logger: Logger;
  /** Judges results that are received into files. Missing: the runtime receives none. */
  readonly jsonCheck?: Pick<JsonCheck, "ask">;
  /** Nothing may run past this time (milliseconds on the monotonic clock); null: nothing runs. */
  readonly onDeadline?: (giveUpAt: number | null) => void;
  /** Missing: no traces are written. */
  readonly tracer?: Tracer;
  /** Missing: executions get no access to the quantum API. */
  readonly openQuantum?: OpenQuantum;
  /** Missing: nobody counts what it does. */
  readonly observer?: WorkerObserver;
}

/**
 * Claims executions that fit and can be started, runs them, and writes their outcomes; one per process.
 *
 * Invariant: every running claim has a valid lease. When a claim is lost, or its lease cannot be renewed in
 * time, its processes are ended before another process may decide its outcome.
 *
 * It stops in two steps, with the end of the runtime between them: `drain`, then its owner closes the runtime, then `close`.
 */
export interface Dispatcher {
  readonly start: () => void;
  /** How many executions it has in hand, and what is free of its capacity; vCPUs and GB. */
  readonly readLoad: () => { readonly inHand: number; readonly free: Resources };
  /** Why this worker starts no executions at present; null when it does. */
  readonly explainRest: () => string | null;
  /**
   * Stops claiming, and waits this many seconds, or until `killing` aborts, for executions to end. Then those that have not begun are given back to
   * the queue; those still running are ended with the runtime (and become UNKNOWN).
   */
  readonly drain: (seconds: number, killing?: AbortSignal) => Promise<void>;
  /** After `drain` and the end of the runtime: resolves once the outcomes of the executions are written, or their leases are over. */
  readonly close: () => Promise<void>;
}

interface DispatcherState {
  readonly options: DispatcherOptions;
  readonly deps: RunClaimDeps;
  readonly loop: TakeLoop<ClaimPlan>;
  readonly leases: LeaseKeeper<ClaimKey>;
  readonly reserver: Reserver;
  readonly timers: Timers<"report" | "patience">;
  /** The latest claim of each execution: it can be given back and claimed again before its last process has ended. */
  readonly runs: Map<string, ClaimRun>;
  /** What was cancelled since a claim that is under way was sent: it may be among what that takes. Null: none is under way. */
  overtaken: Set<string> | null;
  readonly drained: Deferred<undefined>;
  readonly closed: Deferred<undefined>;
  readonly machine: Machine<DispatchState, DispatchEvent>;
  /** The arguments of `drain`. */
  patience: { readonly seconds: number; readonly killing: AbortSignal | null };
  /** Settles once this worker is removed from the registry. */
  leaving: Promise<void>;
}

/** What to claim now. */
type ClaimPlan = Omit<ClaimRequest, "workerId" | "kind" | "sandboxLevel" | "leaseSeconds">;

/** Claims nothing until `start`, but listens to the store's events from now on, until `close`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, logger, observer = NO_WORKER_OBSERVER, tracer = NO_TRACER } = options;
  const self: DispatcherState = {
    options,
    deps: { ...options, observer, tracer, health: createHealthKeeper(logger) },
    loop: createTakeLoop<ClaimPlan>({
      readPermit: () => planClaim(self),
      take: (plan) => receive(self, { plan, since: readMonotonic() }, store.claim(toRequest(self, plan))),
      pollMs: POLL_MS,
      onFailure: (error) => logger.warn({ err: error }, "no executions could be claimed"),
    }),
    leases: keepLeases(options, observer, (id, reason) => stop(self, id, reason)),
    reserver: createReserver(options),
    timers: createTimers(),
    runs: new Map(),
    overtaken: null,
    drained: createDeferred(),
    closed: createDeferred(),
    machine: runMachine<DispatchState, DispatchEvent, DispatchEffect>(
      createDispatchState(options.capacity),
      reduceDispatch,
      (effect) => EFFECTS[effect](self),
    ),
    patience: { seconds: 0, killing: null },
    leaving: Promise.resolve(),
  };
  const unsubscribe = store.subscribe((event) => hear(self, event));
  const stopClaimingNew = store.onCreate?.((claimNew) =>
    self.loop.lend((plan) => {
      const answer = claimNew(toRequest(self, plan));
      return answer === null ? null : receive(self, { plan, since: readMonotonic() }, answer);
    }),
  );
  return {
    start: () => self.machine.dispatch({ type: "start" }),
    readLoad: () => ({ inHand: self.machine.state().inHand, free: readFree(self.machine.state()) }),
    explainRest: self.deps.health.explainRest,
    drain: async (seconds, killing) => {
      self.patience = { seconds, killing: killing ?? null };
      self.machine.dispatch({ type: "drain" });
      await self.drained.promise;
    },
    close: async () => {
      self.machine.dispatch({ type: "drain" });
      await self.drained.promise;
      self.machine.dispatch({ type: "close" });
      await self.closed.promise;
      await self.leaving;
      unsubscribe();
      stopClaimingNew?.();
      self.leases.close();
    },
  };
}

function keepLeases(
  { store, workerId, leaseSeconds, onDeadline, logger }: DispatcherOptions,
  observer: WorkerObserver,
  stopRun: (id: string, reason: StopReason) => void,
): LeaseKeeper<ClaimKey> {
  return createLeaseKeeper<ClaimKey>({
    renew: (claims) => store.renew(workerId, claims, leaseSeconds),
    leaseSeconds,
    onCancelled: (id) => stopRun(id, "cancelled"),
    onLost: (id) => stopRun(id, "lost"),
    onError: (error) => logger.warn({ err: error }, "leases could not be renewed"),
    onDeadline,
    onRenewed: observer.renewed,
  });
}

const EFFECTS: Readonly<Record<DispatchEffect, (self: DispatcherState) => void>> = {
  openQueue: (self) => {
    report(self);
    self.loop.open();
  },
  look: ({ loop }) => loop.free(),
  leaveQueue,
  waitForEnds,
  stopStarting: ({ runs }) => {
    for (const run of runs.values()) if (run.isStarting()) run.stop("stopping");
  },
  drained: ({ timers, drained }) => {
    timers.clear("patience");
    drained.resolve(undefined);
  },
  // An unavailable store does not delay the end of this process for longer than the leases last.
  waitForWrites: (self) =>
    self.timers.set("patience", self.options.leaseSeconds * SECOND, () =>
      self.machine.dispatch({ type: "timeOver" }),
    ),
  closed: ({ timers, closed }) => {
    timers.clear("patience");
    closed.resolve(undefined);
  },
};

/** Executions that a claim under way returns are RUNNING in the store: unless they run, they would end UNKNOWN needlessly. */
function leaveQueue(self: DispatcherState): void {
  self.timers.clear("report");
  self.leaving = self.reserver.leave().catch((error: unknown) => {
    self.options.logger.warn({ err: error }, "the worker could not be taken out of the registry");
  });
  void self.loop.close().then(() => self.machine.dispatch({ type: "queueLeft" }));
}

function waitForEnds(self: DispatcherState): void {
  const { seconds, killing } = self.patience;
  const kill = () => self.machine.dispatch({ type: "kill" });
  sayWhatIsWaitedFor(self.options.logger, self.machine.state().inHand, seconds);
  self.timers.set("patience", seconds * SECOND, () => self.machine.dispatch({ type: "timeOver" }));
  if (killing?.aborted === true) kill();
  else killing?.addEventListener("abort", kill, { once: true });
}

function hear(self: DispatcherState, event: StoreEvent): void {
  if (event.type === "pending" || event.type === "reset") self.loop.announce();
  if (event.type !== "cancel") return;
  self.overtaken?.add(event.id);
  stop(self, event.id, "cancelled");
}

function stop({ runs }: DispatcherState, id: string, reason: StopReason): void {
  runs.get(id)?.stop(reason);
}

/** The one place that decides what may be claimed, for claims and for the reservation of capacity. */
function readPermit({ options, deps, runs }: DispatcherState) {
  let starting = 0;
  for (const run of runs.values()) if (run.isStarting()) starting++;
  return deps.health.readPermit(options.isHeldUp?.() === true ? 0 : CLAIM_LIMIT, starting);
}

function report(self: DispatcherState): void {
  const { options, reserver, machine, timers } = self;
  reserver
    .report(readFree(machine.state()), readPermit(self))
    .catch((error: unknown) => options.logger.warn({ err: error }, "the worker could not be registered"));
  timers.set("report", spreadInterval(REPORT_MS), () => report(self));
}

function planClaim(self: DispatcherState): ClaimPlan | null {
  const permit = readPermit(self);
  const free = readFree(self.machine.state());
  if (permit.limit === 0 || free.cpu <= 0 || free.memory <= 0) return null;
  const plan = self.reserver.plan(free);
  if (plan === "nothing") return null;
  return { ...permit, free, ...(plan === "anything" ? {} : plan) };
}

function toRequest({ options }: DispatcherState, plan: ClaimPlan): ClaimRequest {
  const { workerId, kind, sandboxLevel, leaseSeconds } = options;
  return { ...plan, workerId, ...(kind === undefined ? {} : { kind }), sandboxLevel, leaseSeconds };
}

/** Begins what is claimed. @param since when the claim was sent, or before */
async function receive(
  self: DispatcherState,
  { plan, since }: { readonly plan: ClaimPlan; readonly since: number },
  answer: Promise<ClaimAnswer>,
): Promise<TakeResult> {
  const overtaken = new Set<string>();
  self.overtaken = overtaken;
  const { claims, isDrained } = await answer.finally(() => (self.overtaken = null));
  if (claims.length > 0) self.deps.observer.claimed(claims.length);
  const isReserved = plan.onlyId !== undefined;
  if (isReserved) self.reserver.settle();
  for (const claim of claims) {
    begin(self, claim, since);
    if (overtaken.has(claim.id)) stop(self, claim.id, "cancelled");
  }
  if (isReserved || claims.length === CLAIM_LIMIT) return "something";
  return isDrained ? "nothing" : "unknown";
}

function begin(self: DispatcherState, claim: Claim, since: number): void {
  const { id, resources } = claim;
  self.machine.dispatch({ type: "claimed", resources });
  const run: ClaimRun = runClaim(self.deps, claim, {
    onRelease: self.leases.hold(claim, since),
    onFree: () => self.machine.dispatch({ type: "freed", resources }),
    onLeave: () => {
      if (self.runs.get(id) === run) self.runs.delete(id);
      self.machine.dispatch({ type: "left" });
    },
  });
  self.runs.set(id, run);
}

function sayWhatIsWaitedFor(logger: Logger, executions: number, seconds: number): void {
  const [what, them] = executions === 1 ? ["execution", "it"] : ["executions", "them"];
  logger.info(
    { executions, seconds },
    `waiting for ${executions} running ${what}, at most ${seconds} s; press Ctrl-C again (or send a second signal) to end ${them} now`,
  );
}
