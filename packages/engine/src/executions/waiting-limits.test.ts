import { expect, test } from "vitest";
import type { LimitLine, LimitPlaces } from "../store/limit-line.ts";
import { explainLimit, foreseeLimit, takePlaces } from "./waiting-limits.ts";

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
const explainUnseen = (line: LimitLine) => explainLimit(limited("z"), [line], DURATIONS).reason;
const explainByOthers = (more: Partial<LimitLine>) =>
  explainLimit(limited("a"), [other(0, 1, more)], DURATIONS);
const FREE: LimitPlaces = { ofService: 3, ofOwner: 2, taken: 2, takenByOwner: 1, held: 0 };
const countTaken = (count: number, more: Partial<LimitPlaces> = {}) => {
  const { taken, takenByOwner, held } = takePlaces({ ...FREE, ...more }, count);
  return [taken, takenByOwner, held];
};
const foresee = (places: Partial<LimitPlaces>, lines: readonly LimitLine[] | null = []) =>
  foreseeLimit(
    { ownerId: "own", limitKey: "service" },
    { places: { ...FREE, ...places }, lines, durations: null },
  );

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

test("what was not looked at has no position, and what is unknown is not told as a limit", () => {
  expect(explainLimit(limited("z"), [OWN], DURATIONS)).toEqual({ reason: "SERVICE_LIMIT" });
  expect(explainLimit(limited("z"), [{ ...OWN, ofOwner: 1 }], DURATIONS)).toEqual({
    reason: "SUBSCRIPTION_LIMIT",
  });
  for (const lines of [null, [], [other(0, 1, { limitKey: "another" })]])
    expect(explainLimit(limited("a"), lines, DURATIONS)).toEqual({ reason: "QUEUE" });
});

test("the limit of the service is not named where only the subscription's holds, nor the other way round", () => {
  const held = { taken: 4, takenByOwner: 1 };
  // Looked at while a place was free for a moment, before the round that gives it.
  expect(explainUnseen({ ...OWN, ...held, ofService: null, ofOwner: 2 })).toBe("SUBSCRIPTION_LIMIT");
  expect(explainUnseen({ ...OWN, ...held, ofService: 10, ofOwner: 2 })).toBe("SUBSCRIPTION_LIMIT");
  expect(explainUnseen({ ...OWN, ...held, ofService: 5, ofOwner: 3 })).toBe("SERVICE_LIMIT");
  expect(explainUnseen({ ...OWN, ...held, ofService: 5, ofOwner: null })).toBe("SERVICE_LIMIT");
  expect(explainUnseen({ ...OWN, ...held, ofService: 4, ofOwner: 3 })).toBe("SERVICE_LIMIT");
  // Without limits it is about to enter the queue.
  expect(explainUnseen({ ...OWN, ...held, ofService: null, ofOwner: null })).toBe("QUEUE");
});

test("of an owner who is not among those that wait, the limit is known by the others of the service", () => {
  expect(explainByOthers({ ofService: null, ofOwner: 2 })).toEqual({ reason: "SUBSCRIPTION_LIMIT" });
  expect(explainByOthers({ ofService: 10, ofOwner: 2, taken: 3 })).toEqual({ reason: "SUBSCRIPTION_LIMIT" });
  expect(explainByOthers({ ofService: 10, ofOwner: 2 })).toEqual({ reason: "SERVICE_LIMIT" });
  expect(explainByOthers({ ofService: 10 })).toEqual({ reason: "SERVICE_LIMIT" });
});

test("one that is started now waits where its owner waits, or where all places of a limit are taken, though nobody waits yet", () => {
  for (const lines of [null, [], [OWN], [other(1, 1)]]) expect(foresee({}, lines)).toBeNull();
  expect(foresee({ takenByOwner: 2 })).toEqual({ reason: "SUBSCRIPTION_LIMIT", position: 0 });
  expect(foresee({ taken: 3 })).toEqual({ reason: "SERVICE_LIMIT", position: 0 });
  expect(foresee({ taken: 3, ofService: null })).toBeNull();
  expect(foresee({ taken: 3 }, [other(0, 9)])).toEqual({ reason: "SERVICE_LIMIT", position: 1 });
  // Of its owner only what is held at this moment counts.
  expect(foresee({ takenByOwner: 2, held: 5 }, [OWN])).toEqual({ reason: "SUBSCRIPTION_LIMIT", position: 5 });
  expect(foresee({ ofOwner: null, held: 1 })).toEqual({ reason: "SERVICE_LIMIT", position: 1 });
});

test("of those that are started together as many get a place as there are, and the others are held", () => {
  expect(countTaken(0)).toEqual([2, 1, 0]);
  expect(countTaken(1)).toEqual([3, 2, 0]);
  expect(countTaken(4)).toEqual([3, 2, 3]);
  expect(countTaken(4, { ofService: null, ofOwner: null })).toEqual([6, 5, 0]);
  // Those that wait already come before.
  expect(countTaken(4, { held: 2 })).toEqual([2, 1, 6]);
});
