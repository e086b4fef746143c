import { expect, test } from "vitest";
import { createLogStore } from "./log-store.ts";

const line = (message: string) => ({ timestamp: "2026-11-28 00:00:00", severity: "INFO", message });

test("what shows a log is told once for all lines that arrive before a frame", () => {
  const frames: (() => void)[] = [];
  const store = createLogStore((run) => frames.push(run));
  let told = 0;
  store.subscribe(() => (told += 1));
  store.append([line("one")]);
  store.append([line("two")]);
  expect([told, frames.length]).toEqual([0, 1]);
  for (const run of frames) run();
  expect(told).toBe(1);
  expect(store.read()).toMatchObject({ lines: [{ message: "one" }, { message: "two" }], hasEnded: false });
  store.end();
  frames.at(-1)?.();
  expect(store.read().hasEnded).toBe(true);
});

test("of a log that is too long the oldest lines are dropped, and counted", () => {
  const store = createLogStore((run) => run(), 100);
  store.append(Array.from({ length: 130 }, (_, at) => line(String(at))));
  const { lines, dropped } = store.read();
  expect(lines.length + dropped).toBe(130);
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(lines.at(-1)?.message).toBe("129");
});
