import { expect, test } from "vitest";
import type { LimitLine } from "../store/limit-line.ts";
import { explainLimit, waitsForPlace } from "./waiting-limits.ts";

const OWN: LimitLine = {
  limitKey: "service",
  ownerId: "own",
  ofService: 10,
  ofOwner: null,
  taken: 10,
  takenByOwner: 4,
  held: 3,
  firstIds: ["a", "b", "c"],
};
const other = (takenByOwner: number, held: number, more: Partial<LimitLine> = {}): LimitLine => ({
  ...OWN,
  ownerId: `other of ${takenByOwner} and ${held}`,
  takenByOwner,
  held,
  firstIds: [],
  ...more,
});
const limited = (id: string | null) => ({ id, ownerId: "own", limitKey: "service" });
const DURATIONS = { typical: 20_000 };

test("where the places of its owner are taken, it waits for one of these, behind those of its owner that came before it", () => {
  const lines = [{ ...OWN, ofOwner: 4 }, other(0, 100)];
  expect(explainLimit(limited("c"), lines, DURATIONS)).toEqual({
    reason: "SUBSCRIPTION_LIMIT",
    position: 2,
    // Two and a half runs of 20 s, four at a time.
    estimateSeconds: 13,
  });
});

test("else for one of the service, behind those of owners who have fewer places", () => {
  const lines = [OWN, other(1, 2), other(3, 50), other(5, 50), other(0, 9, { ofOwner: 1 })];
  // The first has two, then it has three places, and the second one until it has four; of the last one there is one.
  expect(explainLimit(limited("a"), lines, DURATIONS)).toEqual({
    reason: "SERVICE_LIMIT",
    position: 2 + 1 + 1,
    estimateSeconds: 9,
  });
  expect(explainLimit(limited("c"), lines, null)).toEqual({
    reason: "SERVICE_LIMIT",
    position: 2 + 2 + 3 + 1 + 1,
  });
});

test("one that is not started yet would come behind all of its owner, if so few are held that they are counted", () => {
  expect(explainLimit(limited(null), [{ ...OWN, ofOwner: 4, held: 7 }], DURATIONS)).toEqual({
    reason: "SUBSCRIPTION_LIMIT",
    position: 7,
    // Seven and a half runs of 20 s, four at a time.
    estimateSeconds: 38,
  });
  expect(explainLimit(limited(null), [{ ...OWN, held: 1_000 }], DURATIONS)).toEqual({
    reason: "SERVICE_LIMIT",
  });
});

test("lines of other services say nothing", () => {
  const lines = [OWN, other(0, 50, { limitKey: "another" })];
  expect(explainLimit(limited("a"), lines, null)).toEqual({ reason: "SERVICE_LIMIT", position: 0 });
});

test("what was not looked at has no position, and what is unknown is told as the limit of the service", () => {
  expect(explainLimit(limited("z"), [OWN], DURATIONS)).toEqual({ reason: "SERVICE_LIMIT" });
  expect(explainLimit(limited("z"), [{ ...OWN, ofOwner: 1 }], DURATIONS)).toEqual({
    reason: "SUBSCRIPTION_LIMIT",
  });
  for (const lines of [null, [], [other(0, 1)]])
    expect(explainLimit(limited("a"), lines, DURATIONS)).toEqual({ reason: "SERVICE_LIMIT" });
});

test("one that is started now waits where its owner or all of the service wait", () => {
  const stranger = { ownerId: "stranger", limitKey: "service" };
  expect(waitsForPlace(limited("new"), [{ ...OWN, taken: 3 }])).toBe(true);
  expect(waitsForPlace(stranger, [OWN])).toBe(true);
  expect(waitsForPlace(stranger, [{ ...OWN, taken: 9 }])).toBe(false);
  expect(waitsForPlace(stranger, [{ ...OWN, ofService: null }])).toBe(false);
  for (const lines of [null, [], [other(0, 5, { limitKey: "another" })]])
    expect(waitsForPlace(stranger, lines)).toBe(false);
});
