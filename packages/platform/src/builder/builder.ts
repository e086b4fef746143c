import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { createLeaseKeeper } from "@platform/engine/queue/lease-keeper";
import type { LeaseKeeper } from "@platform/engine/queue/lease-keeper";
import { startSweeper } from "@platform/engine/queue/sweeper";
import { createTakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeResult } from "@platform/engine/queue/take-machine";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "../base/logger.ts";
import type { BuildClaim, BuildClaimKey, BuildOutcome, BuildStore } from "../store/builds/builds.ts";
import { createBuildLogWriter } from "./build-log-writer.ts";
import { runBuild } from "./run-build.ts";
import type { BuildDeps, BuildRun } from "./run-build.ts";

export interface BuilderDeps extends BuildDeps {
  readonly builds: BuildStore;
  /** Names this process in claims. */
  readonly workerId: string;
  readonly logger: Logger;
}

export interface BuilderOptions {
  /** Builds at once; default 2. */
  readonly concurrency?: number;
  /** Default 30. */
  readonly leaseSeconds?: number;
  /** How often it looks for work that no notification announced, in milliseconds; default 5,000. */
  readonly pollMs?: number;
}

/**
 * Takes builds and makes versions of them.
 *
 * A build is held by a lease that is renewed while it runs. When the lease is lost, the run is given up: another builder has
 * it, and the store drops what a stale builder says. A build whose builder vanished is taken again, three times at most.
 */
export interface Builder {
  /** Takes no new builds; resolves when the running ones have ended. */
  readonly drain: () => Promise<void>;
  /** Gives up what runs and puts it back: a stop uses up none of its tries. */
  readonly close: () => Promise<void>;
}

interface BuilderState {
  readonly deps: BuilderDeps;
  readonly leaseSeconds: number;
  readonly loop: TakeLoop;
  readonly leases: LeaseKeeper<BuildClaimKey>;
  readonly running: Set<RunningBuild>;
  /** Aborted when the builder closes. */
  readonly stopping: AbortController;
}

interface RunningBuild {
  readonly claim: BuildClaim;
  /** Aborted when its lease is lost. */
  readonly lost: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

const DEFAULT_CONCURRENCY = 2;
const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_POLL_MS = 5 * SECOND;

/** Looks for builds from now on. */
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
  const leases = createLeaseKeeper<BuildClaimKey>({
    renew: (claims) => builds.renew(claims, leaseSeconds),
    leaseSeconds,
    onLost: (id) => lose(state, id),
    onError: (error) => logger.warn({ err: error }, "leases of builds could not be renewed"),
  });
  const stopping = new AbortController();
  const state: BuilderState = { deps, leaseSeconds, loop, leases, running, stopping };
  const sweeper = startSweeper({
    store: builds,
    leaseSeconds,
    logger,
    message: "builds whose builders vanished are given up",
  });
  const unsubscribe = builds.subscribe(loop.announce);
  loop.open();

  const drain = async (): Promise<void> => {
    unsubscribe();
    await loop.close();
    await Promise.all([...running].map(({ ended }) => ended));
    leases.close();
    await sweeper.close();
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
  const lost = new AbortController();
  const release = state.leases.hold(claim, since);
  const ended = build(state, claim, lost.signal)
    .catch((error: unknown) => {
      state.deps.logger.error(
        { err: error, buildId: claim.id },
        "a build could not be ended; its lease will run out",
      );
    })
    .finally(() => {
      release();
      state.running.delete(run);
      state.loop.free();
    });
  const run: RunningBuild = { claim, lost, ended };
  state.running.add(run);
}

function lose({ deps, running }: BuilderState, buildId: string): void {
  deps.logger.warn({ buildId }, "the lease of a build was lost; the build is stopped");
  for (const { claim, lost } of running) if (claim.id === buildId) lost.abort();
}

async function build(state: BuilderState, claim: BuildClaim, lost: AbortSignal): Promise<void> {
  const { builds, logger } = state.deps;
  const stopping = state.stopping.signal;
  const log = createBuildLogWriter({ logger, store: (lines) => builds.appendLog(claim, lines) });
  try {
    const signal = AbortSignal.any([lost, stopping]);
    const outcome = await toOutcome(state.deps, { claim, onLog: log.write, signal });
    if (outcome?.status === "FAILED") log.write(`${outcome.code}: ${outcome.detail}`);
    await log.close();
    if (stopping.aborted && !lost.aborted) await builds.giveBack(claim);
    if (signal.aborted || !outcome) return;
    const isKept = await builds.finish(claim, outcome);
    logger.info(
      { buildId: claim.id, version: claim.version, status: outcome.status, isKept },
      "a build ended",
    );
  } finally {
    await log.close();
  }
}

/** Null: it was given up, or the database failed, which says nothing about the project; the build is left to be taken again. */
async function toOutcome(deps: BuilderDeps, run: BuildRun): Promise<BuildOutcome | null> {
  try {
    return await runBuild(deps, run);
  } catch (error) {
    if (run.signal.aborted) return null;
    deps.logger.error({ err: error, buildId: run.claim.id }, "a build failed on our side");
    if (error instanceof Problem && error.code === "UNAVAILABLE") return null;
    return { status: "FAILED", code: "INTERNAL_ERROR", detail: "The build failed on our side; try again." };
  }
}
