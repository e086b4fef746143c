import type { Resources } from "@platform/contract/project";
import { createLeaseKeeper } from "../queue/lease-keeper.ts";
import { createTakeLoop } from "../queue/take-loop.ts";
import type { TakeResult } from "../queue/take-machine.ts";
import type { Logger } from "../base/logger.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type {
  Claim,
  ClaimKey,
  ClaimRequest,
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
const POLL_MS = 1 * SECOND;
/** How often the worker says that it lives, and asks what to make room for. */
const REPORT_MS = 1 * SECOND;
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
  const report = () =>
    void roomMaker
      .report(free.read(), readPermit())
      .catch((error: unknown) => logger.warn({ err: error }, "the worker could not be registered"));

  /** What to ask the queue for now; null: nothing. */
  const planClaim = (): Omit<ClaimRequest, "workerId" | "leaseSeconds"> | null => {
    const permit = readPermit();
    const room = free.read();
    if (permit.limit === 0 || room.cpu <= 0 || room.memory <= 0) return null;
    const plan = roomMaker.plan(room);
    if (plan === "nothing") return null;
    return { ...permit, free: room, ...(plan === "anything" ? {} : plan) };
  };
  const claim = async (request: Omit<ClaimRequest, "workerId" | "leaseSeconds">): Promise<TakeResult> => {
    const since = readMonotonic();
    const { leaseSeconds } = options;
    const { claims, isDrained } = await store.claim({ ...request, workerId, leaseSeconds });
    if (request.onlyId !== undefined) roomMaker.settle();
    for (const claim of claims) begin(claim, since);
    if (request.onlyId !== undefined || claims.length === CLAIM_LIMIT) return "something";
    return isDrained ? "nothing" : "unknown";
  };
  const loop = createTakeLoop({
    readPermit: planClaim,
    take: claim,
    pollMs: POLL_MS,
    onFailure: (error) => logger.warn({ err: error }, "no executions could be claimed"),
  });

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
    loop.free();
  };

  const unsubscribe = store.subscribe((event) => {
    if (event.type === "pending" || event.type === "reset") loop.announce();
    if (event.type === "cancel") stop(event.id, "cancelled");
  });

  return {
    start: () => {
      timer = setInterval(report, REPORT_MS * (0.8 + 0.4 * Math.random()));
      report();
      loop.open();
    },
    findFault: health.findFault,
    drain: async (seconds, killing) => {
      const claimed = loop.close();
      clearInterval(timer);
      const leaving = roomMaker
        .leave()
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the worker could not be taken out of the registry"),
        );
      // What a claim under way brings is RUNNING in the store: it must run, or it would end UNKNOWN for nothing.
      await claimed;
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
