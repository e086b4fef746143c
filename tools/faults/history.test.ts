import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createHistory } from "./history.ts";
import type { Observation } from "./history.ts";

const accept = (op: string): Observation => ({ kind: "accepted", op, id: op, isReplay: false });
const see = (status: "PENDING" | "SUCCEEDED"): Observation => ({
  kind: "state",
  id: "1.0",
  status,
  by: "gateway-1",
});

/** Whether it is resolved when all that is due now has been done. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  let isResolved = false;
  void waiting.then(() => (isResolved = true));
  await setImmediate();
  return isResolved;
}

test("what waits for the second start goes on with it, and not before", async () => {
  const history = createHistory();
  history.open(1);
  const waiting = [history.awaitMoment("accepted", 2), history.awaitMoment("accepted", 2)];
  history.add(accept("1.0"));
  expect(await isOver(Promise.race(waiting))).toBe(false);
  history.add(accept("1.1"));
  await Promise.all(waiting);
  await history.awaitMoment("accepted", 2);
});

test("a state that is not final is no end", async () => {
  const history = createHistory();
  history.open(1);
  const waiting = history.awaitMoment("ended", 1);
  history.add(see("PENDING"));
  expect(await isOver(waiting)).toBe(false);
  history.add(see("SUCCEEDED"));
  await waiting;
});

test("each schedule counts anew", async () => {
  const history = createHistory();
  history.open(1);
  history.add(accept("1.0"));
  history.open(2);
  const waiting = history.awaitMoment("accepted", 1);
  expect(await isOver(waiting)).toBe(false);
  history.add(accept("2.0"));
  await waiting;
});
