import { expect, test } from "vitest";
import { createDeferred } from "./deferred.ts";
import { createTurns } from "./turns.ts";

test("who wants much delays only themselves: those that wait are taken from one sharer after the other", async () => {
  const takeTurn = createTurns(2);
  const counts = { running: 0, most: 0 };
  const order: string[] = [];
  const held = createDeferred<void>();
  const work = (name: string) => async () => {
    counts.most = Math.max(counts.most, (counts.running += 1));
    await held.promise;
    order.push(name);
    counts.running -= 1;
  };
  const loud = Array.from({ length: 100 }, (_, index) => takeTurn(work(`loud ${index}`), "loud"));
  const quiet = ["first", "second"].map((name) => takeTurn(work(name), "quiet"));
  const other = takeTurn(work("other"), "other");
  held.resolve();
  await Promise.all([...loud, ...quiet, other]);
  expect(order.slice(0, 8)).toEqual([
    "loud 0",
    "loud 1",
    "loud 2",
    "first",
    "other",
    "loud 3",
    "second",
    "loud 4",
  ]);
  expect(order).toHaveLength(103);
  expect(counts).toEqual({ running: 0, most: 2 });
});

test("what fails gives its turn on", async () => {
  const takeTurn = createTurns(1);
  const failed = takeTurn(() => Promise.reject(new Error("away")));
  const next = takeTurn(async () => "done");
  await expect(failed).rejects.toThrow("away");
  expect(await next).toBe("done");
});
