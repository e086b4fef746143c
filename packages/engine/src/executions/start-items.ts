import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { HOUR, SECOND } from "../base/time.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { BatchRecord, BatchRefusal } from "../store/batches.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";
import type { Hold } from "./batch-hold.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import { createBatchRefusals } from "./batch-refusals.ts";
import { createReferenceLanes, refuseLate } from "./reference-lane.ts";
import type { ReferenceLane, References } from "./reference-lane.ts";

/** Starts one execution as its own request would, but with this id. */
export interface StartItem {
  readonly references: References;
  readonly start: (item: {
    readonly id: string;
    readonly owner: Owner;
    readonly target: VersionTarget;
    readonly bytes: Uint8Array;
    readonly trace: TraceContext | null;
    readonly lane: ReferenceLane;
  }) => Promise<ExecutionRecord>;
}

/** How many of the starts that were asked for may be made. */
export interface GrantedStarts {
  readonly granted: number;
  /** Null: all. */
  readonly refusal: Problem | null;
}

/** What is to be started of a batch. */
interface Items {
  readonly owner: Owner;
  readonly batch: BatchRecord;
  readonly hold: Hold;
  readonly key: IdempotencyKey | undefined;
  readonly items: readonly Uint8Array[];
  /** What an earlier request has started. */
  readonly known: ReadonlyMap<string, ExecutionStatus>;
  /** A problem: nothing can be started. */
  readonly target: VersionTarget | Problem;
  readonly trace: TraceContext | null;
  readonly countStarts?: (count: number) => Promise<GrantedStarts>;
}

interface Tools {
  readonly startItem: StartItem;
  readonly pace: () => Promise<void>;
}

/** What was started, with what an earlier request has, and what was refused. */
interface Started {
  readonly states: ReadonlyMap<string, ExecutionStatus>;
  readonly refusals: readonly BatchRefusal[];
}

/** Items that begin later than this are refused. */
const MAX_DURATION_MS = 60 * SECOND;
/** Bodies that are parsed and not stored yet: in memory they can take ten times as much. */
const MAX_BYTES_UNDER_WAY = 2 * 1024 * 1024;
const MAX_ITEMS_UNDER_WAY = 1_000;
/** What was cut off longer ago is not gone on with: its ids would be those of another day. */
const RESUMABLE_MS = HOUR;

/**
 * Starts the items that are not there, each limited and judged by itself. Null: another request has taken the batch over.
 *
 * @throws Problem UNAVAILABLE: nothing was started; INTERNAL_ERROR: of some it is unknown
 */
export async function startItems(tools: Tools, given: Items): Promise<Started | null> {
  const { batch, known } = given;
  const refusals = createBatchRefusals();
  const states = new Map(known);
  const missing = batch.itemIds.flatMap((id, index) => (known.has(id) ? [] : [{ id, index }]));
  const { granted, refusal } = await (given.countStarts ?? grantAll)(missing.length);
  const stop = findReason(given);
  for (const { index } of missing.slice(granted)) refusals.add(index, stop ?? refusal ?? refuseLate());
  const wanted = missing.slice(0, granted);
  if (stop !== null || given.target instanceof Problem) {
    for (const { index } of wanted) refusals.add(index, stop ?? (given.target as Problem));
    return { states, refusals: refusals.list() };
  }
  const isOurs = await startWanted(
    { ...tools, ...given, target: given.target, wanted },
    {
      note: (id, record) => void states.set(id, record.status),
      refuse: (index, problem) => refusals.add(index, problem),
    },
  );
  return isOurs ? { states, refusals: refusals.list() } : null;
}

const grantAll = async (granted: number): Promise<GrantedStarts> => ({ granted, refusal: null });

function findReason({ batch }: Items): Problem | null {
  if (batch.isCancelled) return refuseCancelled();
  if (Date.now() - batch.createdAt > RESUMABLE_MS)
    return new Problem("CONFLICT", "The batch was cut off over an hour ago; this item was not started.");
  return null;
}

/** Why an item is not started. */
export function refuseCancelled(): Problem {
  return new Problem("CONFLICT", "The batch was cancelled before this item was started.");
}

interface Run extends Omit<Items, "target">, Tools {
  readonly target: VersionTarget;
  readonly wanted: readonly { readonly id: string; readonly index: number }[];
}

interface Notes {
  readonly note: (id: string, record: ExecutionRecord) => void;
  readonly refuse: (index: number, problem: Problem) => void;
}

/** False: the hold was lost. */
async function startWanted(run: Run, { note, refuse }: Notes): Promise<boolean> {
  const { items, wanted, hold, startItem, pace } = run;
  const until = readMonotonic() + MAX_DURATION_MS;
  const isLate = () => readMonotonic() >= until;
  const enterLane = createReferenceLanes(startItem.references, isLate);
  const flow = createFlow();
  let stop: Problem | null = null;
  const startOne = async (id: string, index: number, bytes: Uint8Array): Promise<void> => {
    const { owner, target, trace } = run;
    const lane = enterLane();
    try {
      note(id, await startItem.start({ id, owner, target, bytes, trace, lane }));
    } catch (error) {
      const problem = requireRefusal(error);
      // Of what is away altogether the others need not be told one after the other, each after its wait.
      if (problem.code === "UNAVAILABLE" && problem.headers["retry-after"] === undefined) stop = problem;
      refuse(index, problem);
    } finally {
      lane.leave();
    }
  };
  for (const { id, index } of wanted) {
    await pace();
    const bytes = items[index] ?? NO_BYTES;
    await flow.admit(bytes.byteLength);
    const state = await hold.ask();
    if (state === "lost" || flow.failure() !== null) break;
    const reason = state === "cancelled" ? refuseCancelled() : (stop ?? (isLate() ? refuseLate() : null));
    if (reason === null) flow.add(bytes.byteLength, startOne(id, index, bytes));
    else refuse(index, reason);
  }
  await flow.settle();
  const failure = flow.failure();
  if (failure !== null) throw refuseUncertain(run, failure.error);
  return (await hold.ask()) !== "lost";
}

/** Why one item is not started. @throws what says nothing of it: it may have been started */
function requireRefusal(error: unknown): Problem {
  if (error instanceof Problem && error.code !== "INTERNAL_ERROR") return error;
  throw error;
}

const NO_BYTES = new Uint8Array();

/** What is under way at one time, by number and bytes. */
function createFlow() {
  const underWay = new Set<Promise<void>>();
  let bytesUnderWay = 0;
  let failure: { readonly error: unknown } | null = null;
  return {
    admit: async (bytes: number): Promise<void> => {
      const isFull = () =>
        underWay.size >= MAX_ITEMS_UNDER_WAY ||
        (underWay.size > 0 && bytesUnderWay + bytes > MAX_BYTES_UNDER_WAY);
      while (isFull()) await Promise.race(underWay);
    },
    /** The work's own refusals are no failures. */
    add: (bytes: number, work: Promise<void>): void => {
      bytesUnderWay += bytes;
      const ended = work
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          bytesUnderWay -= bytes;
          underWay.delete(ended);
        });
      underWay.add(ended);
    },
    settle: async (): Promise<void> => {
      await Promise.all(underWay);
    },
    /** The first one. */
    failure: () => failure,
  };
}

/** UNAVAILABLE would say that nothing was accepted. */
export function refuseUncertain(
  { batch, key }: { readonly batch: BatchRecord; readonly key: IdempotencyKey | undefined },
  cause: unknown,
): Problem {
  const advice =
    key === undefined
      ? `Get the batch ${batch.id} before starting its items again.`
      : "Send the request again with the same Idempotency-Key.";
  return new Problem(
    "INTERNAL_ERROR",
    `The batch was created, and it is unknown which of its executions were. ${advice}`,
    { cause },
  );
}
