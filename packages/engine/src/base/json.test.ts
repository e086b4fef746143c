import { threadCpuUsage } from "node:process";
import { expect, test } from "vitest";
import { isDeeperThan, isTextDeeperThan } from "./json.ts";

const VALUES: ReadonlyArray<readonly [value: unknown, levels: number]> = [
  [1, 0],
  ["[[{", 0],
  [{}, 1],
  [{ "a]\\": '\\"[' }, 1],
  [[[], [[]], {}], 3],
  [{ a: [{ b: "\u007f[{" }], c: {} }, 3],
];

test.each(VALUES)("%j is nested as deep in its text as in its value", (value, levels) => {
  const text = JSON.stringify(value);
  for (const most of [0, 1, 2, 3, 4]) {
    expect(isDeeperThan(value, most)).toBe(levels > most);
    expect(isTextDeeperThan(text, most)).toBe(levels > most);
  }
});

test("a text of nothing but brackets is not looked at to its end", () => {
  const text = "[".repeat(4_000_000);
  const before = threadCpuUsage();
  for (let times = 0; times < 1000; times += 1) expect(isTextDeeperThan(text, 1000)).toBe(true);
  // Microseconds of processor time: other work of the machine is no matter.
  expect(threadCpuUsage(before).user).toBeLessThan(2_000_000);
});
