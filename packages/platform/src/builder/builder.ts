import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { createLeaseKeeper } from "@platform/engine/queue/lease-keeper";
import type { LeaseKeeper } from "@platform/engine/queue/lease-keeper";
import type { Logger } from "../base/logger.ts";
import type { BuildClaim, BuildClaimKey, BuildOutcome, BuildStore } from "../store/builds/builds.ts";
import { createBuildLogWriter } from "./build-log-writer.ts";
import { runBuild } from "./run-build.ts";
import type { BuildDeps } from "./run-build.ts";

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

interface Room {
  readonly deps: BuilderDeps;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly running: Set<Promise<void>>;
  readonly leases: LeaseKeeper<BuildClaimKey>;
  /** By build: aborted when its lease is lost. */
  readonly lost: Map<string, AbortController>;
  readonly stopping: AbortController;
  /** Takes no more from now on. */
  isDraining: boolean;
  looking: Promise<void> | null;
  lookAgain: boolean;
}

const SECOND = 1_000;
const DEFAULT_CONCURRENCY = 2;
const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_POLL = 5 * SECOND;

/** Looks for builds from now on. */
export function createBuilder(deps: BuilderDeps, options: BuilderOptions = {}): Builder {
  const { builds, logger } = deps;
  const leaseSeconds = options.leaseSeconds ?? DEFAULT_LEASE_SECONDS;
  const lost = new Map<string, AbortController>();
  const room: Room = {
    deps,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    leaseSeconds,
    running: new Set(),
    lost,
    leases: createLeaseKeeper({
      renew: (claims) => builds.renew(claims, leaseSeconds),
      leaseSeconds,
      onLost: (buildId) => {
        logger.warn({ buildId }, "the lease of a build was lost; the build is stopped");
        lost.get(buildId)?.abort();
      },
      onError: (error) => logger.warn({ err: error }, "leases of builds could not be renewed"),
    }),
    stopping: new AbortController(),
    isDraining: false,
    looking: null,
    lookAgain: false,
  };
  const unsubscribe = deps.builds.subscribe(() => look(room));
  const pollMs = options.pollMs ?? DEFAULT_POLL;
  const timer = setInterval(() => look(room), pollMs * (0.75 + Math.random() / 2));
  look(room);

  const stopLooking = async (): Promise<void> => {
    room.isDraining = true;
    unsubscribe();
    clearInterval(timer);
    await room.looking;
  };
  return {
    drain: async () => {
      await stopLooking();
      await Promise.all(room.running);
      room.leases.close();
    },
    close: async () => {
      room.stopping.abort();
      await stopLooking();
      await Promise.all(room.running);
      room.leases.close();
    },
  };
}

function look(room: Room): void {
  if (room.isDraining) return;
  if (room.looking) {
    room.lookAgain = true;
    return;
  }
  room.looking = takeBuilds(room).finally(() => {
    room.looking = null;
    if (room.lookAgain) {
      room.lookAgain = false;
      look(room);
    }
  });
}

async function takeBuilds(room: Room): Promise<void> {
  const { builds, workerId, logger } = room.deps;
  try {
    const given = await builds.sweep();
    if (given > 0) logger.warn({ builds: given }, "gave up builds whose builders vanished");
    while (!room.isDraining && room.running.size < room.concurrency) {
      const since = readMonotonic();
      const claim = await builds.claim(workerId, room.leaseSeconds);
      if (!claim) return;
      hold(room, claim, since);
    }
  } catch (error) {
    logger.warn({ err: error }, "could not look for builds; trying again");
  }
}

function hold(room: Room, claim: BuildClaim, since: number): void {
  const run: Promise<void> = build(room, claim, since)
    .catch((error: unknown) => {
      room.deps.logger.error(
        { err: error, buildId: claim.id },
        "a build could not be ended; its lease will run out",
      );
    })
    .finally(() => {
      room.running.delete(run);
      look(room);
    });
  room.running.add(run);
}

async function build(room: Room, claim: BuildClaim, since: number): Promise<void> {
  const { builds, logger } = room.deps;
  const lost = new AbortController();
  room.lost.set(claim.id, lost);
  const release = room.leases.hold(claim, since);
  const log = createBuildLogWriter({ logger, store: (lines) => builds.appendLog(claim, lines) });
  try {
    const signal = AbortSignal.any([lost.signal, room.stopping.signal]);
    const outcome = await settle(room, claim, signal, () =>
      runBuild(room.deps, { claim, onLog: log.write, signal }),
    );
    if (outcome?.status === "FAILED") log.write(`${outcome.code}: ${outcome.detail}`);
    await log.close();
    if (room.stopping.signal.aborted && !lost.signal.aborted) await builds.giveBack(claim);
    if (signal.aborted || !outcome) return;
    const isKept = await builds.finish(claim, outcome);
    logger.info(
      { buildId: claim.id, version: claim.version, status: outcome.status, isKept },
      "a build ended",
    );
  } finally {
    release();
    // Lost and taken anew, another run of it may stand there.
    if (room.lost.get(claim.id) === lost) room.lost.delete(claim.id);
    await log.close();
  }
}

/** Null: it was given up, or the database failed, which says nothing about the project; the build is left to be taken again. */
async function settle(
  room: Room,
  claim: BuildClaim,
  signal: AbortSignal,
  work: () => Promise<BuildOutcome>,
): Promise<BuildOutcome | null> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return null;
    room.deps.logger.error({ err: error, buildId: claim.id }, "a build failed on our side");
    if (error instanceof Problem && error.code === "UNAVAILABLE") return null;
    return { status: "FAILED", code: "INTERNAL_ERROR", detail: "The build failed on our side; try again." };
  }
}
