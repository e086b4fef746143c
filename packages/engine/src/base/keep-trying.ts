import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { computePause } from "./backoff.ts";
import { readMonotonic } from "./monotonic.ts";

/** Between tries. */
const PAUSE = { firstMs: 100, ceilingMs: 2_000 };

/**
 * Writes to a store, with retries as long as it is unreachable and the claim is held, for `withinMs`. False when the store reports that the claim
 * is lost, or when the claim was lost before the write succeeded.
 *
 * @throws the error of the store when retrying is useless
 */
export async function keepTrying(
  write: () => Promise<boolean>,
  isHeld: () => boolean,
  withinMs: number,
): Promise<boolean> {
  const began = readMonotonic();
  for (let tries = 0; isHeld(); tries++) {
    try {
      return await write();
    } catch (error) {
      const isTransient = error instanceof Problem && error.code === "UNAVAILABLE";
      if (!isTransient || readMonotonic() - began > withinMs) throw error;
    }
    await delay(computePause(PAUSE, tries));
  }
  return false;
}
