import { setTimeout as delay } from "node:timers/promises";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import { createUuidV7 } from "../base/uuid.ts";
import { BATCH_HOLD_SECONDS } from "../store/batches.ts";
import type { BatchRecord, BatchStore } from "../store/batches.ts";
import { createBatchRefusals } from "./batch-refusals.ts";
import { refuseCancelled } from "./start-items.ts";

/*
 * Whoever starts a batch notices its cancellation when it renews its hold, and has started some by then. It cancels these at its end, unless it is
 * killed before; so the cancellation waits for that end, or for the end of the hold, and cancels them as well.
 */

/** Executions of one step of a cancellation. */
const CANCELLED_AT_ONCE = 250;
/** Longer than the hold of one that was killed. What goes on for longer is renewed: its holder is there, and cancels what it has started. */
const WAIT_FOR_HOLDER_MS = 2 * BATCH_HOLD_SECONDS * SECOND;
const ASK_HOLDER_MS = 100;

/** Cancels all of its executions that have not ended. Repeated it changes nothing. */
export async function cancelInSteps(store: BatchStore, { itemIds, ownerId }: BatchRecord): Promise<void> {
  for (let from = 0; from < itemIds.length; from += CANCELLED_AT_ONCE)
    await store.cancelMany(itemIds.slice(from, from + CANCELLED_AT_ONCE), ownerId);
}

/** Cancels a batch that is marked as cancelled: all of its executions that have not ended, and those that somebody is starting at the moment. */
export async function cancelAll(store: BatchStore, batch: BatchRecord): Promise<void> {
  await cancelInSteps(store, batch);
  if (batch.refusals === null && (await awaitNoHolder(store, batch))) await cancelInSteps(store, batch);
}

/** Until nobody starts more of it, so that what there is is all; false: its holder still does. */
async function awaitNoHolder(store: BatchStore, { id, ownerId }: BatchRecord): Promise<boolean> {
  const holder = createUuidV7();
  const until = readMonotonic() + WAIT_FOR_HOLDER_MS;
  for (;;) {
    const found = await store.takeOverBatch(id, ownerId, holder);
    if (found === null || found.holder === "nobody") return true;
    if (found.holder === "own") {
      await giveUp(store, found.batch, holder);
      return true;
    }
    if (readMonotonic() >= until) return false;
    await delay(ASK_HOLDER_MS);
  }
}

/** What is not there is started by nobody any more. */
async function giveUp(store: BatchStore, batch: BatchRecord, holder: string): Promise<void> {
  const states = await store.readStates(batch.itemIds, batch.ownerId);
  const refusals = createBatchRefusals();
  batch.itemIds.forEach((itemId, index) => {
    if (!states.has(itemId)) refusals.add(index, refuseCancelled());
  });
  await store.settleBatch(batch.id, holder, refusals.list());
}
