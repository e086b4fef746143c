import { setTimeout as delay } from "node:timers/promises";

/** How long tests wait for what must come: long enough for a slow machine with other work, and below every test's limit. */
export const PATIENCE_MS = 60_000;
const LOOK_MS = 5;

/** Looks until the answer is yes. Throws with `what` (or the condition's source) when patience ends. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what: string = condition.toString(),
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain for ${what}`);
    await delay(LOOK_MS);
  }
}
