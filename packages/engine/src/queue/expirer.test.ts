import { expect, test, vi } from "vitest";
import { SECOND } from "../base/time.ts";
import { createDeferred } from "../base/deferred.ts";
import { startExpirer } from "./expirer.ts";

test("rounds follow within two seconds, one at a time, also after one that failed; the last is waited for at the end", async () => {
  vi.useFakeTimers();
  const warnings: string[] = [];
  const slow = createDeferred<number>();
  const answers = [() => Promise.reject(new Error("no database")), () => slow.promise];
  let rounds = 0;
  const store = { expire: () => answers[rounds++]?.() ?? Promise.resolve(0) };
  const stop = startExpirer({
    store,
    logger: { warn: (_fields: object, text?: string) => void warnings.push(text ?? "") },
  });
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  expect([rounds, warnings.length]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  expect(rounds).toBe(2);
  await vi.advanceTimersByTimeAsync(10 * SECOND);
  expect(rounds).toBe(2);
  let isStopped = false;
  const awaitStop = async (): Promise<void> => {
    await stop();
    isStopped = true;
  };
  const stopped = awaitStop();
  await vi.advanceTimersByTimeAsync(10 * SECOND);
  expect([rounds, isStopped]).toEqual([2, false]);
  slow.resolve(1);
  await stopped;
  vi.useRealTimers();
});
