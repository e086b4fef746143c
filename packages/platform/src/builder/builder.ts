import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { createLeaseKeeper } from "@platform/engine/queue/lease-keeper";
import type { LeaseKeeper } from "@platform/engine/queue/lease-keeper";
import { startSweeper } from "@platform/engine/queue/sweeper";
import { createTakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeResult } from "@platform/engine/queue/take-machine";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { BuildClaim, BuildOutcome, BuildStore } from "../store/builds/builds.ts";
import { StoreFull, StoreUnavailable } from "../objects/object-store.ts";
import { createBuildLogWriter } from "./build-log-writer.ts";
import { runBuild } from "./run-build.ts";
import type { BuildDeps, BuildRun } from "./run-build.ts";

/** What a builder works with. */
export interface BuilderDeps extends BuildDeps {
  readonly builds: BuildStore;
  /** Names this process in claims. */
  readonly workerId: string;
  readonly logger: Logger;
  /** Called with each end that is stored. Missing: nobody counts them. */
  readonly onEnded?: (status: BuildOutcome["status"], milliseconds: number) => void;
}

/** Limits of a builder. */
export interface BuilderOptions {
  /** Builds at once; default 2. */
  readonly concurrency?: number;
  /** Length of the leases; default 30. */
  readonly leaseSeconds?: number;
  /** How often it looks for builds whose notification was lost; default 5,000. */
  readonly pollMs?: number;
}

/**
 * Claims builds and runs them.
 *
 * A build is held by a lease that is renewed while it runs. When the lease is lost, the run is stopped: another builder may
 * have claimed the build, and the store refuses writes of the former one. A build whose builder was lost is claimed again,
 * up to three attempts in all.
 */
export interface Builder {
  /** Claims no more builds; resolves when the running ones have ended. */
  readonly drain: () => Promise<void>;
  /** Stops the running builds and gives them back, to be claimed again. */
  readonly close: () => Promise<void>;
}

interface BuilderState {
  readonly deps: BuilderDeps;
  readonly leaseSeconds: number;
  readonly loop: TakeLoop<BuilderState>;
  readonly leases: LeaseKeeper<ClaimKey>;
  readonly running: Set<RunningBuild>;
  /** Aborted when the builder closes. */
  readonly stopping: AbortController;
}

interface RunningBuild {
  readonly claim: BuildClaim;
  /** Aborted when its lease is lost. */
  readonly lost: AbortController;
  /** `writing`: its end is being stored, and nothing is left to stop. */
  phase: "building" | "writing";
  /** Never rejects. */
  ended: Promise<void>;
}

const DEFAULT_CONCURRENCY = 2;
const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_POLL_MS = 5 * SECOND;

/** Creates a builder, which begins to claim builds. */
export function createBuilder(deps: BuilderDeps, options: BuilderOptions = {}): Builder {
  const { builds, logger } = deps;
  const {
    concurrency = DEFAULT_CONCURRENCY,
    leaseSeconds = DEFAULT_LEASE_SECONDS,
    pollMs = DEFAULT_POLL_MS,
  } = options;
  const running = new Set<RunningBuild>();
  const loop = createTakeLoop({
    readPermit: () => (running.size < concurrency ? state : null),
    take: poll,
    pollMs,
    onFailure: (error) => logger.warn({ err: error }, "no builds could be claimed; trying again"),
  });
  const leases = createLeaseKeeper<ClaimKey>({
    renew: (claims) => builds.renew(claims, leaseSeconds),
    leaseSeconds,
    onLost: (id) => lose(state, id),
    onError: (error) => logger.warn({ err: error }, "leases of builds could not be renewed"),
  });
  const stopping = new AbortController();
  const state: BuilderState = { deps, leaseSeconds, loop, leases, running, stopping };
  const stopSweeping = startSweeper({
    store: builds,
    leaseSeconds,
    logger,
    message: "builds whose builders were lost have failed",
  });
  const unsubscribe = builds.subscribe(loop.announce);
  loop.open();

  const drain = async (): Promise<void> => {
    unsubscribe();
    await loop.close();
    await Promise.all([...running].map(({ ended }) => ended));
    leases.close();
    await stopSweeping();
  };
  return {
    drain,
    close: async () => {
      stopping.abort();
      await drain();
    },
  };
}

async function poll(state: BuilderState): Promise<TakeResult> {
  const { builds, workerId } = state.deps;
  const since = readMonotonic();
  const claim = await builds.claim(workerId, state.leaseSeconds);
  if (claim === null) return "nothing";
  start(state, claim, since);
  return "something";
}

function start(state: BuilderState, claim: BuildClaim, since: number): void {
  const release = state.leases.hold(claim, since);
  const run: RunningBuild = {
    claim,
    lost: new AbortController(),
    phase: "building",
    ended: Promise.resolve(),
  };
  state.running.add(run);
  run.ended = build(state, run)
    .catch((error: unknown) => {
      state.deps.logger.error(
        { err: error, buildId: claim.id },
        "the end of a build could not be stored; its lease will expire",
      );
    })
    .finally(() => {
      release();
      state.running.delete(run);
      state.loop.free();
    });
}

/** A build whose end is being stored may have ended in the store already, which holds no lease of it then. */
function lose({ deps, running }: BuilderState, buildId: string): void {
  for (const { claim, lost, phase } of running) {
    if (claim.id !== buildId || phase === "writing") continue;
    deps.logger.warn({ buildId }, "the lease of a build was lost; the build is stopped");
    lost.abort();
  }
}

async function build(state: BuilderState, run: RunningBuild): Promise<void> {
  const { claim } = run;
  const lost = run.lost.signal;
  const { builds, logger, onEnded } = state.deps;
  const began = readMonotonic();
  const stopping = state.stopping.signal;
  const log = createBuildLogWriter({ logger, store: (lines) => builds.appendLog(claim, lines) });
  try {
    const signal = AbortSignal.any([lost, stopping]);
    const outcome = await toOutcome(state.deps, { claim, onLog: log.write, signal });
    if (outcome?.status === "FAILED") log.write(`${outcome.code}: ${outcome.detail}`);
    await log.close();
    run.phase = "writing";
    if (stopping.aborted && !lost.aborted) await builds.giveBack(claim);
    if (signal.aborted || !outcome) return;
    const isKept = await builds.finish(claim, outcome);
    if (isKept) onEnded?.(outcome.status, readMonotonic() - began);
    logger.info(
      { buildId: claim.id, version: claim.version, status: outcome.status, isKept },
      "a build ended",
    );
  } finally {
    await log.close();
  }
}

/** Null: the run was stopped, or the database or the store of objects failed, which says nothing about the project; the build is claimed again. */
async function toOutcome(deps: BuilderDeps, run: BuildRun): Promise<BuildOutcome | null> {
  try {
    return await runBuild(deps, run);
  } catch (error) {
    if (run.signal.aborted) return null;
    deps.logger.error({ err: error, buildId: run.claim.id }, "a build failed with an internal error");
    if (mayPass(error)) return null;
    return {
      status: "FAILED",
      code: "INTERNAL_ERROR",
      detail: "The build failed with an internal error. Try again.",
    };
  }
}

function mayPass(error: unknown): boolean {
  return (
    error instanceof StoreUnavailable ||
    error instanceof StoreFull ||
    (error instanceof Problem && error.code === "UNAVAILABLE")
  );
}
