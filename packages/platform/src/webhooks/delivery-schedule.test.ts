import { expect, test } from "vitest";
import { decideDelivery } from "./delivery-schedule.ts";

const DAY = 24 * 3_600_000;
const FIRST = { tries: 1, now: 0, giveUpAt: DAY, spread: 0 };
const decide = (status: number | null, more: Partial<typeof FIRST> = {}) =>
  decideDelivery({ ...FIRST, ...more, answer: { status } });

test.each([200, 204, 299])("%i is a delivery", (status) => {
  expect(decide(status)).toEqual({ status: "DELIVERED" });
});

test.each([null, 100, 199, 300, 307, 400, 404, 429, 500, 503])("%s is tried again", (status) => {
  expect(decide(status)).toEqual({ status: "PENDING", pauseMs: 5_000 });
});

test("410 ends a message, and pauses its webhook", () => {
  expect(decide(410)).toEqual({ status: "FAILED", isGone: true });
});

test("the pauses grow from seconds to hours, and by chance none is as long as another", () => {
  const pauses = Array.from({ length: 12 }, (_, index) => {
    const end = decide(500, { tries: index + 1 });
    return end.status === "PENDING" ? end.pauseMs / 1_000 : null;
  });
  expect(pauses.slice(0, 4)).toEqual([5, 30, 120, 600]);
  expect(pauses.slice(7)).toEqual([14_400, 14_400, 14_400, 14_400, 14_400]);
  expect(decide(500, { spread: 1 })).toEqual({ status: "PENDING", pauseMs: 3_750 });
});

test("it is given up where the next try would come after a day, at least ten tries later", () => {
  let [now, tries] = [0, 1];
  let end = decide(500, { tries, now });
  while (end.status === "PENDING") {
    now += end.pauseMs;
    tries++;
    end = decide(500, { tries, now });
  }
  expect(end).toEqual({ status: "FAILED", isGone: false });
  expect(now).toBeLessThanOrEqual(DAY);
  expect(now).toBeGreaterThan(DAY / 2);
  expect(tries).toBeGreaterThanOrEqual(10);
});
