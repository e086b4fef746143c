import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { HOUR } from "../base/time.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { BatchRecord, BatchRefusal } from "../store/batches.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";
import type { Hold } from "./batch-hold.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import { createBatchRefusals } from "./batch-refusals.ts";
import { eachItem } from "./each-item.ts";
import { refuseLate } from "./reference-lane.ts";
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
  const { items, wanted, hold, startItem, pace, owner, target, trace } = run;
  let stop: Problem | null = null;
  const failure = await eachItem({
    wanted,
    items,
    pace,
    references: startItem.references,
    refuse,
    ask: async () => {
      const state = await hold.ask();
      if (state === "lost") return "stop";
      return state === "cancelled" ? refuseCancelled() : stop;
    },
    work: async ({ id, index }, bytes, lane) => {
      try {
        note(id, await startItem.start({ id, owner, target, bytes, trace, lane }));
      } catch (error) {
        const problem = requireRefusal(error);
        // Of what is away altogether the others need not be told one after the other, each after its wait.
        if (problem.code === "UNAVAILABLE" && problem.headers["retry-after"] === undefined) stop = problem;
        refuse(index, problem);
      }
    },
  });
  if (failure !== null) throw refuseUncertain(run, failure.error);
  const state = await hold.ask().catch((cause: unknown) => {
    throw refuseUncertain(run, cause);
  });
  return state !== "lost";
}

/** Why one item is not started. @throws what says nothing of it: it may have been started */
export function requireRefusal(error: unknown): Problem {
  if (error instanceof Problem && error.code !== "INTERNAL_ERROR") return error;
  throw error;
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
