import type { ProjectKind, Resources } from "@platform/contract/project";
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
  /** Whose executions it runs; default: of services. */
  readonly kind?: ProjectKind;
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

/** One report at a time; none once the worker leaves. */
type ReportState =
  | { readonly name: "idle" }
  | { readonly name: "reporting"; readonly done: Promise<void> }
  | { readonly name: "leaving" };

/** Reserves nothing and is not in the registry until the first `report`. */
export function createReserver(options: ReserverOptions): Reserver {
  const { store, workerId, kind, capacity, logger } = options;
  const now = options.now ?? readMonotonic;
  const turns = createTurns(now);
  let state: ReportState = { name: "idle" };

  const report = async (free: Resources, { limit, excludedVersionIds }: Permit) => {
    turns.end();
    const long = turns.announce();
    if (long !== null)
      logger.info(
        { executionId: long.id, ...long.resources },
        "the worker starts nothing else until an execution fits that waits for more than is free",
      );
    if (limit === 0) turns.drop();
    const asked = turns.current();
    const reservation = await store.report({
      workerId,
      ...(kind === undefined ? {} : { kind }),
      capacity,
      free,
      excludedVersionIds,
      reservedId: asked?.reservation.id ?? null,
      reservesAfterSeconds:
        limit === 0 || turns.isResting() ? null : (options.reservesAfterSeconds ?? RESERVES_AFTER_SECONDS),
    });
    // While the store was asked, the execution may have been claimed; the next report says what holds then.
    if (turns.current() === asked && state.name !== "leaving") turns.take(reservation);
  };

  return {
    plan: (free) => {
      const hold = turns.current();
      if (hold === null) return "anything";
      const { id, resources } = hold.reservation;
      return fits(resources, free) ? { onlyId: id } : "nothing";
    },
    report: async (free, permit) => {
      if (state.name === "leaving") return;
      if (state.name === "idle") {
        const done = report(free, permit).finally(() => {
          if (state.name === "reporting") state = { name: "idle" };
        });
        state = { name: "reporting", done };
      }
      await state.done;
    },
    settle: turns.drop,
    leave: async () => {
      const last = state.name === "reporting" ? state.done : Promise.resolve();
      state = { name: "leaving" };
      turns.drop();
      await last.catch(() => undefined);
      await store.leave(workerId);
    },
  };
}

/** Work, a reservation (`announced`: the log has it), and the rest after one, in which nothing is reserved. */
type TurnState =
  | { readonly name: "working" }
  | { readonly name: "holding" | "announced"; readonly reservation: Reservation; readonly since: number }
  | { readonly name: "resting"; readonly until: number };

/** Which reservation is held, for how long at a time, and how long nothing is reserved after it. */
interface Turns {
  /** The reservation that is held; the same object as long as the same turn lasts. */
  readonly current: () => { readonly reservation: Reservation } | null;
  readonly take: (reservation: Reservation | null) => void;
  readonly drop: () => void;
  /** Ends the turn of a reservation that was held for its time; its next turn lasts twice as long. */
  readonly end: () => void;
  /** The reservation, once, when it has been held for LOG_AFTER_MS. */
  readonly announce: () => Reservation | null;
  readonly isResting: () => boolean;
}

function createTurns(now: () => number): Turns {
  let state: TurnState = { name: "working" };
  /** Of the latest reservation: for how long it is held at a time. */
  let turn = { id: "", holdMs: FIRST_HOLD_MS };
  const current = () => ("reservation" in state ? state : null);
  return {
    current,
    drop: () => {
      if ("reservation" in state) state = { name: "working" };
    },
    isResting: () => state.name === "resting" && now() < state.until,
    end: () => {
      if (!("reservation" in state) || now() - state.since < turn.holdMs) return;
      state = { name: "resting", until: now() + turn.holdMs };
      turn = { id: turn.id, holdMs: 2 * turn.holdMs };
    },
    announce: () => {
      if (state.name !== "holding" || now() - state.since < LOG_AFTER_MS) return null;
      state = { ...state, name: "announced" };
      return state.reservation;
    },
    take: (reservation) => {
      if (reservation?.id === current()?.reservation.id) return;
      if (reservation === null) {
        state = { name: "working" };
        return;
      }
      state = { name: "holding", reservation, since: now() };
      if (reservation.id !== turn.id) turn = { id: reservation.id, holdMs: FIRST_HOLD_MS };
    },
  };
}
