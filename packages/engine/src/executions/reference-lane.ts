import { Problem } from "@platform/contract/problems";
import { createTurns } from "../base/turns.ts";
import type { InputSource, ResultTargets } from "../store/execution-store.ts";

/** So many items of a batch that name files or data pools are under way at one time: each can cost queries, and megabytes of pins. */
const ITEMS_AT_ONCE = 16;

/** What a start asks about files and data pools. */
export interface References {
  readonly inputs: InputSource;
  readonly targets: ResultTargets | undefined;
}

/** The same for one item, which has a turn from its first question until it leaves. */
export interface ReferenceLane extends References {
  readonly leave: () => void;
}

/**
 * Bounds what the items of one batch ask about files and data pools. Items without any do not wait.
 *
 * @param isLate whether no item should begin to ask any more
 */
export function createReferenceLanes(
  { inputs, targets }: References,
  isLate: () => boolean,
): () => ReferenceLane {
  const turns = createTurns(ITEMS_AT_ONCE);
  return () => {
    let leave: (() => void) | null = null;
    let entering: Promise<void> | null = null;
    const enter = async (): Promise<void> => {
      entering ??= new Promise((resolve) => {
        const hold = async () => {
          const left = new Promise<void>((end) => {
            leave = end;
          });
          resolve();
          await left;
        };
        void turns(hold);
      });
      await entering;
      if (isLate()) throw refuseLate();
    };
    return {
      inputs: {
        ...inputs,
        pin: async (reference, owner) => {
          await enter();
          return await inputs.pin(reference, owner);
        },
        pinPools: async (ids, owner) => {
          await enter();
          return await inputs.pinPools(ids, owner);
        },
      },
      targets: targets && {
        pin: async (target, owner, place) => {
          await enter();
          return await targets.pin(target, owner, place);
        },
      },
      leave: () => leave?.(),
    };
  };
}

/** The problem of an item whose turn did not come in time. */
export function refuseLate(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The items before it took too long; this one was not started. Start it again.",
    { headers: { "retry-after": "1" } },
  );
}
