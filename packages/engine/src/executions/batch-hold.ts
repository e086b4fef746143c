import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import { BATCH_HOLD_SECONDS } from "../store/batches.ts";
import type { BatchStore } from "../store/batches.ts";

type HoldState = Awaited<ReturnType<BatchStore["renewBatch"]>>;

/** Of the hold: the rest of it is for what is under way. */
const SAFE_SHARE = 0.5;
const RENEW_EVERY_MS = (BATCH_HOLD_SECONDS * SECOND) / 4;

/** The right to start the executions of a batch. */
export interface Hold {
  /** Whether something may be started now. */
  readonly ask: () => Promise<HoldState>;
  readonly close: () => void;
}

/**
 * Renews a hold until it is closed. `ask` waits for a renewal where the last one is so old that another request may take the batch over soon.
 *
 * @param since when it was asked for, on the monotonic clock
 */
export function createHold(
  store: Pick<BatchStore, "renewBatch">,
  { id, holder, since }: { readonly id: string; readonly holder: string; readonly since: number },
): Hold {
  let state: HoldState = "held";
  let renewedAt = since;
  const renew = async (): Promise<void> => {
    const asked = readMonotonic();
    state = await store.renewBatch(id, holder);
    renewedAt = asked;
  };
  // What fails is asked again, at the latest by whoever needs it.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS);
  return {
    ask: async () => {
      if (readMonotonic() - renewedAt > BATCH_HOLD_SECONDS * SECOND * SAFE_SHARE) await renew();
      return state;
    },
    close: () => clearInterval(timer),
  };
}
