import { afterEach, expect, test, vi } from "vitest";
import { HOUR } from "../base/time.ts";
import { createDeferred } from "../base/deferred.ts";
import { createTakeLoop } from "./take-loop.ts";
import type { TakeLoop } from "./take-loop.ts";
import type { TakeResult } from "./take-machine.ts";

let opened: TakeLoop<string> | undefined;

afterEach(async () => {
  await opened?.close();
  vi.useRealTimers();
});

const nothing = async (): Promise<TakeResult> => "nothing";

/** A loop over a queue that the test answers for. */
function createScene(take: () => Promise<TakeResult>, pollMs = HOUR) {
  vi.useFakeTimers();
  const failures: unknown[] = [];
  let permit: string | null = "all";
  const seen: string[] = [];
  const loop = createTakeLoop<string>({
    readPermit: () => permit,
    take: (given) => {
      seen.push(given);
      return take();
    },
    pollMs,
    onFailure: (error) => failures.push(error),
  });
  opened = loop;
  return { loop, failures, seen, setPermit: (given: string | null) => (permit = given) };
}

test("a queue that nobody announces anything of is polled", async () => {
  const { loop, seen } = createScene(async () => "nothing", 1_000);
  loop.open();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.length).toBeGreaterThanOrEqual(9);
});

test("nothing is taken without a permit, and each take has the permit of its moment", async () => {
  const { loop, seen, setPermit } = createScene(async () => "unknown");
  setPermit(null);
  loop.open();
  await vi.advanceTimersByTimeAsync(1);
  setPermit("one");
  loop.announce();
  await vi.advanceTimersByTimeAsync(1);
  expect(seen).toEqual(["one"]);
});

test("a take that fails is repeated after pauses that grow up to a second, and each failure is reported", async () => {
  const { loop, seen, failures } = createScene(() => Promise.reject(new Error("the queue is away")));
  loop.open();
  await vi.advanceTimersByTimeAsync(0);
  const times: number[] = [];
  const start = Date.now();
  while (Date.now() - start < 20_000) {
    const before = seen.length;
    loop.announce();
    await vi.advanceTimersByTimeAsync(5);
    if (seen.length > before) times.push(Date.now());
  }
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1_005);
  expect(Math.min(...pauses.slice(4))).toBeGreaterThanOrEqual(400);
  expect(failures).toHaveLength(seen.length);
});

test("closing waits for the take under way, takes nothing more, and leaves no timer", async () => {
  const answer = createDeferred<TakeResult>();
  const { loop, seen } = createScene(() => answer.promise);
  loop.open();
  let isClosed = false;
  const closing = loop.close().then(() => (isClosed = true));
  loop.announce();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(isClosed).toBe(false);
  answer.resolve("something");
  await closing;
  loop.open();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([seen, vi.getTimerCount()]).toEqual([["all"], 0]);
});

test("the permit is lent only while the queue is known to be empty, and for one take at a time", async () => {
  const left: TakeResult[] = ["unknown", "nothing"];
  const { loop, seen, setPermit, failures } = createScene(async () => left.shift() ?? "nothing");
  const lent: string[] = [];
  const lend = (answer: () => Promise<TakeResult> | null) =>
    loop.lend((permit) => {
      lent.push(permit);
      return answer();
    });
  const under = createDeferred<TakeResult>();
  lend(nothing);
  loop.open();
  lend(nothing);
  await vi.advanceTimersByTimeAsync(1);
  lend(nothing);
  expect([lent, seen]).toEqual([[], ["all"]]);
  loop.free();
  await vi.advanceTimersByTimeAsync(1);
  setPermit(null);
  lend(nothing);
  setPermit("lent");
  lend(() => null);
  lend(() => under.promise);
  lend(nothing);
  loop.announce();
  expect([lent, seen]).toEqual([
    ["lent", "lent"],
    ["all", "all"],
  ]);
  under.resolve("nothing");
  await vi.advanceTimersByTimeAsync(1);
  expect(seen).toEqual(["all", "all", "lent"]);
  lend(() => Promise.reject(new Error("the queue is away")));
  await vi.advanceTimersByTimeAsync(100);
  expect([failures.length, seen.length]).toEqual([1, 4]);
});
