import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { computePause } from "../base/backoff.ts";
import { MINUTE } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";

const BACKOFF = { firstMs: 100, ceilingMs: 2_000 };
/** Bounds the retries: a store that renews leases but never accepts this write must not keep an execution RUNNING without end. */
const TRY_FOR_MS = 15 * MINUTE;

/**
 * Writes to the store, with retries as long as it is unreachable and the claim is held. False when the store reports that the claim is lost, or
 * when the claim was lost before the write succeeded.
 *
 * @throws the error of the store when retrying is useless
 */
export async function keepTrying(write: () => Promise<boolean>, isHeld: () => boolean): Promise<boolean> {
  const began = readMonotonic();
  for (let tries = 0; isHeld(); tries++) {
    try {
      return await write();
    } catch (error) {
      const isTransient = error instanceof Problem && error.code === "UNAVAILABLE";
      if (!isTransient || readMonotonic() - began > TRY_FOR_MS) throw error;
    }
    await delay(computePause(BACKOFF, tries));
  }
  return false;
}
