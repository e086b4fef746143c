import type { Resources } from "@platform/contract/project";
import { createLeaseKeeper } from "../queue/lease-keeper.ts";
import type { Logger } from "../base/logger.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type {
  Claim,
  ClaimKey,
  ExecutionStore,
  InputSource,
  VersionSource,
} from "../store/execution-store.ts";
import { createRoomMaker } from "./reservation.ts";
import type { PythonRuntime } from "../python/port/runtime.ts";
import { createRoom } from "./free-room.ts";
import { runClaim } from "./run-claim.ts";
import type { ClaimRun, StopReason } from "./run-claim.ts";
import { createHealthKeeper } from "./worker-health.ts";

const SECOND = 1_000;
/** Events wake the dispatcher; this poll makes it correct without them. */
const POLL_MS = 1 * SECOND;
/** Rows locked by one claim: more would only be given back, since all must fit together. */
const CLAIM_LIMIT = 32;

export interface DispatcherOptions {
  readonly store: ExecutionStore;
  readonly versions: VersionSource;
  readonly inputs: InputSource;
  readonly runtime: PythonRuntime;
  readonly workerId: string;
  /** What all runs of this worker may use together: vCPUs and GB. */
  readonly capacity: Resources;
  readonly leaseSeconds: number;
  /** Room is made for an execution that found none for so long; default 10. */
  readonly reservesAfterSeconds?: number;
  /** Whether this host has no room for more work at present, beside vCPUs and memory (its disk is low). Missing: it has. */
  readonly isHeldUp?: () => boolean;
  readonly logger: Logger;
  /** Nothing may run past this time (milliseconds on the monotonic clock); null: nothing runs. */
  readonly onDeadline?: (giveUpAt: number | null) => void;
}

/**
 * Claims what fits and can be started, runs it, writes how it ended; one per process.
 *
 * Holds: every running claim has a lease that is kept. A claim that is lost, or whose lease cannot be renewed in
 * time, has its processes ended before anybody else may say what became of it.
 */
export interface Dispatcher {
  readonly start: () => void;
  /** Why this worker starts no executions at present; null: it does. */
  readonly findFault: () => string | null;
  /**
   * Claims no more, lets what runs end for so many seconds or until `killing` aborts. Then what has not begun goes back into the queue, and
   * the rest is killed (and ends UNKNOWN).
   */
  readonly drain: (seconds: number, killing?: AbortSignal) => Promise<void>;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, logger, workerId } = options;
  const running = new Map<string, ClaimRun>();
  const free = createRoom(options.capacity);
  const health = createHealthKeeper(logger);
  const { reservesAfterSeconds } = options;
  const roomMaker = createRoomMaker({
    store,
    workerId,
    capacity: options.capacity,
    logger,
    ...(reservesAfterSeconds === undefined ? {} : { reservesAfterSeconds }),
  });
  let timer: NodeJS.Timeout | undefined;
  /** What the last claim said; a hint that spares a look at the queue after each run. */
  let isQueueEmpty = false;
  let state: "idle" | "claiming" | "claim again" | "stopped" = "stopped";

  const stop = (id: string, reason: StopReason) => running.get(id)?.stop(reason);
  const leases = createLeaseKeeper<ClaimKey>({
    renew: (claims) => store.renew(workerId, claims, options.leaseSeconds),
    leaseSeconds: options.leaseSeconds,
    onCancelled: (id) => stop(id, "cancelled"),
    onLost: (id) => stop(id, "lost"),
    onError: (error) => logger.warn({ err: error }, "leases could not be renewed"),
    ...(options.onDeadline === undefined ? {} : { onDeadline: options.onDeadline }),
  });
  const listStarting = () => [...running.values()].filter((run) => run.phase() === "starting");

  /** The one place that says what may be claimed: by claims, and by who makes room for a claim to come. */
  const readPermit = () =>
    health.readPermit(options.isHeldUp?.() === true ? 0 : CLAIM_LIMIT, listStarting().length);
  const poll = () => {
    roomMaker
      .report(free.read(), readPermit())
      .catch((error: unknown) => logger.warn({ err: error }, "the worker could not be registered"));
    wake();
  };

  const claimMore = async (): Promise<void> => {
    if (state === "claiming") state = "claim again";
    if (state !== "idle") return;
    state = "claiming";
    const since = readMonotonic();
    const permit = readPermit();
    let claimed = 0;
    const room = free.read();
    const plan = permit.limit > 0 ? roomMaker.plan(room) : "nothing";
    if (plan !== "nothing" && room.cpu > 0 && room.memory > 0) {
      const answer = await store.claim({
        workerId,
        free: room,
        leaseSeconds: options.leaseSeconds,
        ...permit,
        ...(plan === "anything" ? {} : plan),
      });
      claimed = answer.claims.length;
      if (plan !== "anything") roomMaker.settle();
      // What became pending while the store was asked may not be in its answer.
      isQueueEmpty = answer.isDrained && !isIn("claim again");
      for (const claim of answer.claims) begin(claim, since);
    }
    const isMoreWanted = isIn("claim again") || claimed === CLAIM_LIMIT || typeof plan === "object";
    if (!isIn("stopped")) state = "idle";
    if (isMoreWanted) wake();
  };
  // A function, since the compiler does not see that the state may have changed while the store was asked.
  const isIn = (value: typeof state) => state === value;

  /** The latest claim; settles when it is answered and its executions have begun. */
  let claiming: Promise<void> = Promise.resolve();
  const wake = () => {
    const isStarting = isIn("idle");
    const claim = claimMore().catch((error: unknown) => {
      if (!isIn("stopped")) state = "idle";
      logger.warn({ err: error }, "no executions could be claimed");
    });
    if (isStarting) claiming = claim;
  };

  let onEmpty: (() => void) | null = null;
  const waitUntilEmpty = async (milliseconds: number, killing?: AbortSignal): Promise<void> => {
    if (running.size === 0 || killing?.aborted === true) return;
    let deadline: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      onEmpty = resolve;
      deadline = setTimeout(resolve, milliseconds);
      killing?.addEventListener("abort", () => resolve(), { once: true });
    });
    clearTimeout(deadline);
    onEmpty = null;
  };

  const begin = (claim: Claim, since: number) => {
    free.take(claim.resources);
    const release = leases.hold(claim, since);
    const run = runClaim({ ...options, health, onRoomFree: () => giveRoomBack(claim) }, claim);
    running.set(claim.id, run);
    void run.settled.then(release);
    void run.over.then(() => forget(run));
  };

  const forget = (run: ClaimRun) => {
    // Given back and claimed anew, another run of it may stand there.
    if (running.get(run.claim.id) === run) running.delete(run.claim.id);
    if (running.size === 0) onEmpty?.();
  };

  const giveRoomBack = (claim: Claim) => {
    free.giveBack(claim.resources);
    if (!isQueueEmpty || isIn("claiming")) wake();
  };

  const unsubscribe = store.subscribe((event) => {
    if (event.type === "pending" || event.type === "reset") {
      isQueueEmpty = false;
      wake();
    }
    if (event.type === "cancel") stop(event.id, "cancelled");
  });

  return {
    start: () => {
      state = "idle";
      timer = setInterval(poll, POLL_MS * (0.8 + 0.4 * Math.random()));
      poll();
    },
    findFault: health.findFault,
    drain: async (seconds, killing) => {
      state = "stopped";
      clearInterval(timer);
      const leaving = roomMaker
        .leave()
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the worker could not be taken out of the registry"),
        );
      // What a claim under way brings is RUNNING in the store: it must run, or it would end UNKNOWN for nothing.
      await claiming;
      if (running.size > 0) sayWhatIsWaitedFor(logger, running.size, seconds);
      await waitUntilEmpty(seconds * SECOND, killing);
      for (const run of listStarting()) run.stop("stopping");
      await options.runtime.close();
      // Their outcomes are written while their leases last; a store that is away does not hold the end of this process up for longer.
      await waitUntilEmpty(options.leaseSeconds * SECOND);
      await leaving;
      unsubscribe();
      leases.close();
    },
  };
}

function sayWhatIsWaitedFor(logger: Logger, executions: number, seconds: number): void {
  const [what, them] = executions === 1 ? ["execution", "it"] : ["executions", "them"];
  logger.info(
    { executions, seconds },
    `waiting for ${executions} running ${what}, at most ${seconds} s; press Ctrl-C again (or send a second signal) to end ${them} now`,
  );
}
