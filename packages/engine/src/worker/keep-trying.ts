import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { computePause } from "../base/backoff.ts";
import { MINUTE } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";

const BACKOFF = { firstMs: 100, ceilingMs: 2_000 };
/** A store that renews leases but never takes this one write must not keep an execution RUNNING for ever. */
const TRY_FOR_MS = 15 * MINUTE;

/**
 * Writes to the store, again and again while it is out of reach and the claim is held. False when the store said that the claim is no longer held, or
 * when it was lost before anything could be written.
 *
 * @throws what the store threw, when trying again is of no use
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
