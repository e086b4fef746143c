import type { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import { createReferenceLanes, refuseLate } from "./reference-lane.ts";
import type { ReferenceLane, References } from "./reference-lane.ts";

/** Items that begin later than this are refused. */
const MAX_DURATION_MS = 60 * SECOND;
/** Bodies that are parsed and not stored yet: in memory they can take ten times as much. */
const MAX_BYTES_UNDER_WAY = 2 * 1024 * 1024;
const MAX_ITEMS_UNDER_WAY = 1_000;

/** One item of a batch. */
interface Item {
  /** Place in the request. */
  readonly index: number;
}

/** What is done about the items of a batch, as far as they are wanted. */
interface ItemWork<T extends Item> {
  readonly wanted: readonly T[];
  /** All of the request. */
  readonly items: readonly Uint8Array[];
  readonly references: References;
  readonly pace: () => Promise<void>;
  /** Before each item: why it is refused, null: it is not; `stop`: nothing more is done. What it throws ends the work. */
  readonly ask: () => Promise<Problem | "stop" | null>;
  /** What it throws ends the work. */
  readonly work: (item: T, bytes: Uint8Array, lane: ReferenceLane) => Promise<void>;
  readonly refuse: (index: number, problem: Problem) => void;
}

/** Works on one item after the other, several at one time; in order where they do not wait. Returns what was thrown first, null: nothing. */
export async function eachItem<T extends Item>(
  given: ItemWork<T>,
): Promise<{ readonly error: unknown } | null> {
  const { wanted, items, references, pace, ask, work, refuse } = given;
  const until = readMonotonic() + MAX_DURATION_MS;
  const isLate = () => readMonotonic() >= until;
  const enterLane = createReferenceLanes(references, isLate);
  const flow = createFlow();
  const workOn = async (item: T, bytes: Uint8Array): Promise<void> => {
    const lane = enterLane();
    try {
      await work(item, bytes, lane);
    } finally {
      lane.leave();
    }
  };
  for (const item of wanted) {
    await pace();
    const bytes = items[item.index] ?? NO_BYTES;
    await flow.admit(bytes.byteLength);
    // What is under way is waited for, also where the question fails.
    const asked = await ask().catch(flow.fail);
    if (asked === "stop" || flow.failure() !== null) break;
    const reason = asked ?? (isLate() ? refuseLate() : null);
    if (reason === null) flow.add(bytes.byteLength, workOn(item, bytes));
    else refuse(item.index, reason);
  }
  await flow.settle();
  return flow.failure();
}

const NO_BYTES = new Uint8Array();

/** What is under way at one time, by number and bytes. */
function createFlow() {
  const underWay = new Set<Promise<void>>();
  let bytesUnderWay = 0;
  let failure: { readonly error: unknown } | null = null;
  const fail = (error: unknown): "stop" => {
    failure ??= { error };
    return "stop";
  };
  return {
    fail,
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
        .catch((error: unknown) => void fail(error))
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
