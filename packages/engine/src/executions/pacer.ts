import { setImmediate as untilNextTurn } from "node:timers/promises";
import { readMonotonic } from "../base/monotonic.ts";
import { createTurns } from "../base/turns.ts";

/** So long work goes on before others have a turn. */
const SLICE_MS = 4;

/**
 * Splits work of this process into slices: to be awaited between its parts. Resolves at once for the first milliseconds of a turn of the event
 * loop; then all that wait go on one after the other, a slice in each turn, so that other requests are answered between them.
 */
export function createPacer(): () => Promise<void> {
  const takeTurn = createTurns(1);
  let endsAt = -Infinity;
  return async () => {
    if (readMonotonic() < endsAt) return;
    await takeTurn(async () => {
      await untilNextTurn();
      endsAt = readMonotonic() + SLICE_MS;
    });
  };
}
