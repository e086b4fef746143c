import { expect, test } from "vitest";
import { createRequestLimit } from "./request-limit.ts";

function createLimit(burst: number, perSecond: number) {
  const clock = { ms: 0 };
  return { clock, limit: createRequestLimit({ burst, perSecond, now: () => clock.ms }) };
}

test("lets a burst through, then so many a second, and says how long to wait", () => {
  const { clock, limit } = createLimit(3, 0.5);
  expect([1, 2, 3, 4, 5].map(() => limit("a"))).toEqual([0, 0, 0, 2, 2]);
  expect(limit("b")).toBe(0);
  clock.ms += 1_000;
  expect(limit("a")).toBe(1);
  clock.ms += 1_000;
  expect([limit("a"), limit("a")]).toEqual([0, 2]);
});

test("saves up no more than a burst", () => {
  const { clock, limit } = createLimit(3, 1);
  for (const _ of [1, 2, 3, 4]) limit("a");
  clock.ms += 1_000_000;
  expect([1, 2, 3, 4].map(() => limit("a"))).toEqual([0, 0, 0, 1]);
});
