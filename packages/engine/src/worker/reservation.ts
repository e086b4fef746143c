import type { Resources } from "@platform/contract/project";
import { SECOND } from "../base/time.ts";
import { fits } from "../base/capacity.ts";
import type { Logger } from "../base/logger.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { Reservation, WorkerRegistry } from "../store/execution-store.ts";

/** Capacity is reserved for an execution that has waited for so long and fits the worker, but never what is free. */
const RESERVES_AFTER_SECONDS = 10;
/** It is reserved for so long at first. When what runs takes longer, the worker works on as long, then tries twice as long. */
const FIRST_HOLD_MS = 60 * SECOND;
/** A busy worker reserves for the next in the queue all the time, until one of its runs ends: that is not worth a line. */
const LOG_AFTER_MS = 5 * SECOND;

/** The worker that capacity is reserved on. `capacity` is its total, in vCPUs and GB. */
export interface ReserverOptions {
  readonly store: WorkerRegistry;
  readonly workerId: string;
  readonly capacity: Resources;
  readonly logger: Logger;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
  /** Default 10. */
  readonly reservesAfterSeconds?: number | undefined;
}

/**
 * Keeps a worker in the registry, and reserves capacity for an execution that would never find enough: while smaller ones keep coming,
 * what a large one needs is never free at one time.
 *
 * The worker then claims nothing until that one fits. Capacity that nothing uses is lost to all others, so it is reserved in turns
 * with work: a minute each, then two, four ... A large execution behind runs of length L starts within a small multiple of
 * L, and whoever queues one behind a run of hours does not stop the worker for hours.
 */
export interface Reserver {
  /** What to claim next with so much free. */
  readonly plan: (free: Resources) => "anything" | "nothing" | { readonly onlyId: string };
  /** Once a second. */
  readonly report: (free: Resources, permit: Permit) => Promise<void>;
  /** The reserved one was claimed, or is not there any more. */
  readonly settle: () => void;
  /** Takes the worker out of the registry. */
  readonly leave: () => Promise<void>;
}

/** What the worker may claim now; a limit of 0: nothing, so it reserves nothing either. */
interface Permit {
  readonly limit: number;
  readonly excludedVersionIds: readonly string[];
}

interface Hold {
  readonly reservation: Reservation;
  readonly since: number;
  isLogged: boolean;
}

/** Reserves nothing and is not in the registry until the first `report`. */
export function createReserver(options: ReserverOptions): Reserver {
  const { store, workerId, capacity, logger } = options;
  const now = options.now ?? readMonotonic;
  const turns = createTurns(now);
  let isLeaving = false;
  let reporting: Promise<void> | null = null;

  const report = async (free: Resources, { limit, excludedVersionIds }: Permit) => {
    turns.end();
    logLong(turns.current(), now(), logger);
    if (limit === 0) turns.drop();
    const asked = turns.current();
    const reservation = await store.report({
      workerId,
      capacity,
      free,
      excludedVersionIds,
      reservedId: asked?.reservation.id ?? null,
      reservesAfterSeconds:
        limit === 0 || turns.isResting() ? null : (options.reservesAfterSeconds ?? RESERVES_AFTER_SECONDS),
    });
    // While the store was asked, the execution may have been claimed; the next report says what holds then.
    if (turns.current() === asked && !isLeaving) turns.take(reservation);
  };

  return {
    plan: (free) => {
      const hold = turns.current();
      if (hold === null) return "anything";
      const { id, resources } = hold.reservation;
      return fits(resources, free) ? { onlyId: id } : "nothing";
    },
    report: async (free, permit) => {
      if (isLeaving) return;
      reporting ??= report(free, permit).finally(() => {
        reporting = null;
      });
      await reporting;
    },
    settle: turns.drop,
    leave: async () => {
      isLeaving = true;
      turns.drop();
      await reporting?.catch(() => undefined);
      await store.leave(workerId);
    },
  };
}

/** Which reservation is held, for how long at a time, and how long nothing is reserved after it. */
interface Turns {
  readonly current: () => Hold | null;
  readonly take: (reservation: Reservation | null) => void;
  readonly drop: () => void;
  /** Ends the turn of a reservation that was held for its time; its next turn lasts twice as long. */
  readonly end: () => void;
  readonly isResting: () => boolean;
}

function createTurns(now: () => number): Turns {
  let hold: Hold | null = null;
  /** Of the latest reservation: for how long it is held at a time. */
  let turn = { id: "", holdMs: FIRST_HOLD_MS };
  let restUntil = -Infinity;
  return {
    current: () => hold,
    drop: () => {
      hold = null;
    },
    isResting: () => now() < restUntil,
    end: () => {
      if (hold === null || now() - hold.since < turn.holdMs) return;
      hold = null;
      restUntil = now() + turn.holdMs;
      turn = { id: turn.id, holdMs: 2 * turn.holdMs };
    },
    take: (reservation) => {
      if (reservation?.id === hold?.reservation.id) return;
      hold = reservation === null ? null : { reservation, since: now(), isLogged: false };
      if (reservation !== null && reservation.id !== turn.id)
        turn = { id: reservation.id, holdMs: FIRST_HOLD_MS };
    },
  };
}

function logLong(hold: Hold | null, now: number, logger: ReserverOptions["logger"]): void {
  if (hold === null || hold.isLogged || now - hold.since < LOG_AFTER_MS) return;
  hold.isLogged = true;
  const { id, resources } = hold.reservation;
  logger.info(
    { executionId: id, ...resources },
    "the worker starts nothing else until an execution fits that waits for more than is free",
  );
}
