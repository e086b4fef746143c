import type { FailureCode } from "@platform/contract/problems";
import type { Resources } from "@platform/contract/project";
import { createLeaseKeeper } from "./lease-keeper.ts";
import type { Logger } from "./logger.ts";
import { readMonotonic } from "./monotonic.ts";
import type { Claim, ExecutionStore, InputSource, VersionSource } from "./ports.ts";
import { createRoomMaker } from "./reservation.ts";
import type {
  ExecutionInput,
  LogLine,
  Outcome,
  PythonRuntime,
  Run,
  RunnableVersion,
} from "./python/runtime.ts";

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
  readonly logger: Logger;
  /** Nothing may run past this time (milliseconds on the monotonic clock); null: nothing runs. */
  readonly onDeadline?: (giveUpAt: number | null) => void;
}

/**
 * Claims what fits, runs it, writes how it ended; one per process.
 *
 * Holds: every running claim has a lease that is kept. A claim that is lost, or whose lease cannot be renewed in
 * time, has its processes ended before anybody else may say what became of it.
 */
export interface Dispatcher {
  readonly start: () => void;
  /**
   * Claims no more, lets what runs end for so many seconds or until `killing` aborts, then kills the rest (which end
   * UNKNOWN).
   */
  readonly drain: (seconds: number, killing?: AbortSignal) => Promise<void>;
}

interface Running {
  readonly claim: Claim;
  run: Run | null;
  state: "held" | "cancelled" | "lost";
  /** Whether its vCPUs and memory are still taken. */
  hasRoom: boolean;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, logger, workerId } = options;
  const running = new Map<string, Running>();
  const free = createRoom(options.capacity);
  const timers: NodeJS.Timeout[] = [];
  /** What the last claim told; a hint that spares a look at the queue after each run. */
  let isQueueEmpty = false;
  let state: "idle" | "claiming" | "claim again" | "stopped" = "stopped";

  const leases = createLeaseKeeper({
    store,
    workerId,
    leaseSeconds: options.leaseSeconds,
    onCancelled: (id) => end(id, "cancelled"),
    onLost: (id) => end(id, "lost"),
    onError: (error) => logger.warn({ err: error }, "leases could not be renewed"),
    onDeadline: options.onDeadline ?? (() => undefined),
  });

  const roomMaker = createRoomMaker({
    store,
    workerId,
    capacity: options.capacity,
    logger,
    ...(options.reservesAfterSeconds === undefined
      ? {}
      : { reservesAfterSeconds: options.reservesAfterSeconds }),
  });
  const poll = () => {
    roomMaker
      .report(free.read(), [])
      .catch((error: unknown) => logger.warn({ err: error }, "the worker could not be registered"));
    wake();
  };

  const end = (id: string, reason: "cancelled" | "lost") => {
    const entry = running.get(id);
    if (entry === undefined || entry.state !== "held") return;
    entry.state = reason;
    if (reason === "lost") logger.warn({ executionId: id }, "the lease was lost; the processes are ended");
    entry.run?.kill({ code: "CANCELLED", detail: "The execution was cancelled." });
  };

  const claimMore = async (): Promise<void> => {
    if (state === "claiming") state = "claim again";
    if (state !== "idle") return;
    state = "claiming";
    const since = readMonotonic();
    let claimed = 0;
    const room = free.read();
    const plan = roomMaker.plan(room);
    if (plan !== "nothing" && room.cpu > 0 && room.memory > 0) {
      const answer = await store.claim({
        workerId,
        limit: CLAIM_LIMIT,
        free: room,
        leaseSeconds: options.leaseSeconds,
        excludedVersionIds: [],
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
      if (milliseconds !== Infinity) deadline = setTimeout(resolve, milliseconds);
      killing?.addEventListener("abort", () => resolve(), { once: true });
    });
    clearTimeout(deadline);
    onEmpty = null;
  };

  const begin = (claim: Claim, since: number) => {
    free.take(claim.resources);
    const release = leases.hold(claim, since);
    const entry: Running = { claim, run: null, state: "held", hasRoom: true };
    running.set(claim.id, entry);
    execute(entry)
      .catch((error: unknown) =>
        logger.error(
          { err: error, executionId: claim.id },
          "an outcome could not be written; the lease will settle it",
        ),
      )
      .finally(() => {
        release();
        running.delete(claim.id);
        giveRoomBack(entry);
        if (running.size === 0) onEmpty?.();
      });
  };

  const execute = async (entry: Running): Promise<void> => {
    const outcome = await runToOutcome(entry);
    if (entry.state !== "lost" && !(await store.finish(entry.claim, outcome))) {
      const { id, attempt } = entry.claim;
      logger.warn(
        { executionId: id, attempt, status: outcome.status },
        "the claim was no longer held; the outcome is dropped",
      );
    }
    await entry.run?.ended;
  };

  const runToOutcome = async (entry: Running): Promise<Outcome> => {
    const { claim } = entry;
    const prepared = await prepare(claim);
    if ("status" in prepared) return prepared;
    if (entry.state !== "held") return fail("CANCELLED", "The execution was cancelled.");
    const logged: Promise<void>[] = [];
    const onLog = (lines: readonly LogLine[]) => {
      logged.push(
        store
          .appendLog(claim, lines)
          .catch((error: unknown) =>
            logger.warn({ err: error, executionId: claim.id }, "log lines were lost"),
          ),
      );
    };
    entry.run = options.runtime.run({
      executionId: claim.id,
      timeoutSeconds: claim.timeoutSeconds,
      ...prepared,
      onLog,
    });
    void entry.run.ended.then(() => giveRoomBack(entry));
    const outcome = await entry.run.outcome;
    await Promise.all(logged);
    if (outcome.status !== "NOT_STARTED") return outcome;
    logger.error({ executionId: claim.id, reason: outcome.detail }, "an execution could not be started");
    return fail("STARTUP_ERROR", "The execution could not be started on the worker.");
  };

  const prepare = async (
    claim: Claim,
  ): Promise<{ readonly version: RunnableVersion; readonly input: ExecutionInput } | Outcome> => {
    try {
      const [version, data, params] = await Promise.all([
        options.versions.prepare(claim.versionId, new AbortController().signal),
        readReference(claim, "data"),
        readReference(claim, "params"),
      ]);
      if (data === null || params === null)
        return fail(
          "DATA_REFERENCE_UNAVAILABLE",
          `The file that ${data === null ? "dataRef" : "paramsRef"} names is gone.`,
        );
      return {
        version,
        input: { body: claim.body, ...(data ? { data } : {}), ...(params ? { params } : {}) },
      };
    } catch (error) {
      logger.error(
        { err: error, executionId: claim.id, versionId: claim.versionId },
        "the version could not be prepared",
      );
      return fail("STARTUP_ERROR", "The version's files could not be made ready on the worker.");
    }
  };

  const readReference = async (claim: Claim, key: "data" | "params") => {
    const reference = claim.references[key];
    return reference === undefined ? undefined : options.inputs.read(reference, claim.ownerId);
  };

  const giveRoomBack = (entry: Running) => {
    if (!entry.hasRoom) return;
    entry.hasRoom = false;
    free.giveBack(entry.claim.resources);
    if (!isQueueEmpty || isIn("claiming")) wake();
  };

  const unsubscribe = store.subscribe((event) => {
    if (event.type === "pending" || event.type === "reset") {
      isQueueEmpty = false;
      wake();
    }
    if (event.type === "cancel") end(event.id, "cancelled");
  });

  return {
    start: () => {
      state = "idle";
      timers.push(setInterval(poll, POLL_MS * (0.8 + 0.4 * Math.random())));
      poll();
    },
    drain: async (seconds, killing) => {
      state = "stopped";
      for (const timer of timers) clearInterval(timer);
      const leaving = roomMaker
        .leave()
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the worker could not be taken out of the registry"),
        );
      // What a claim under way brings is RUNNING in the store: it must run, or it would end UNKNOWN for nothing.
      await claiming;
      if (running.size > 0)
        logger.info(
          { executions: running.size, seconds },
          `waiting for ${running.size} running execution${running.size === 1 ? "" : "s"}, at most ${seconds} s; press Ctrl-C again (or send a second signal) to end ${running.size === 1 ? "it" : "them"} now`,
        );
      await waitUntilEmpty(seconds * SECOND, killing);
      await options.runtime.close();
      await waitUntilEmpty(Infinity);
      await leaving;
      unsubscribe();
      leases.close();
    },
  };
}

/** Free vCPUs and GB, counted in thousandths so that fractions add up exactly. */
function createRoom(capacity: Resources) {
  const UNITS = 1_000;
  let cpu = Math.round(capacity.cpu * UNITS);
  let memory = Math.round(capacity.memory * UNITS);
  const add = (resources: Resources, sign: 1 | -1) => {
    cpu += sign * Math.round(resources.cpu * UNITS);
    memory += sign * Math.round(resources.memory * UNITS);
  };
  return {
    read: (): Resources => ({ cpu: cpu / UNITS, memory: memory / UNITS }),
    take: (resources: Resources) => add(resources, -1),
    giveBack: (resources: Resources) => add(resources, 1),
  };
}

function fail(code: FailureCode, detail: string): Outcome {
  return { status: "FAILED", code, detail };
}
