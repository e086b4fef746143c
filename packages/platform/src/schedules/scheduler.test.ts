import { afterEach, expect, test, vi } from "vitest";
import type { RunClaim } from "../store/schedules/runs.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import { createScheduler } from "./scheduler.ts";
import type { SchedulerOptions } from "./scheduler.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** How long one look says that it is until something is due. */
function createScene(wait: number | null, claims: readonly RunClaim[] = []) {
  vi.useFakeTimers();
  const looks = vi.fn<() => Promise<boolean>>(async () => false);
  const start = vi.fn<() => Promise<void>>(async () => undefined);
  const settled = vi.fn<() => Promise<void>>(async () => undefined);
  let left = claims;
  const options: SchedulerOptions = {
    planDue: looks,
    readWait: async () => wait,
    runs: {
      claim: async (limit) => {
        const taken = left.slice(0, limit);
        left = left.slice(limit);
        return taken;
      },
      settleStarted: settled,
      settleRefused: async () => undefined,
    },
    starter: { start, isStarted: async () => false },
    logger: createRecordingLogger(),
  };
  return { scheduler: createScheduler(options), looks, start, settled };
}

test("it looks when something is due, and not before", async () => {
  const { scheduler, looks } = createScene(20_000);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(looks).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1_010);
  expect(looks).toHaveBeenCalledTimes(2);
  await scheduler.close();
});

test("without anything due it looks once a minute, and at once when it is told of a change", async () => {
  const { scheduler, looks } = createScene(null);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(looks).toHaveBeenCalledTimes(1);
  scheduler.announce();
  await vi.advanceTimersByTimeAsync(0);
  expect(looks).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks.mock.calls.length).toBeGreaterThan(8);
  expect(looks.mock.calls.length).toBeLessThan(20);
  await scheduler.close();
});

test("what another process has at this moment is looked for once a second", async () => {
  const { scheduler, looks } = createScene(0);
  await vi.advanceTimersByTimeAsync(10_100);
  expect(looks.mock.calls.length).toBeLessThanOrEqual(12);
  expect(looks.mock.calls.length).toBeGreaterThanOrEqual(8);
  await scheduler.close();
});

test("all that is due is started, sixteen at a time, and a stop waits for what it has begun", async () => {
  const claims = Array.from({ length: 40 }, (_, index): RunClaim => ({
    id: String(index),
    attempt: 1,
    trigger: "CRON",
    executionId: String(index),
    organisationId: "",
    body: "{}",
    userId: "",
    mayEdit: true,
    lateMs: 0,
    serviceKey: "",
    version: null,
    subscriptionId: null,
  }));
  const { scheduler, start, settled } = createScene(null, claims);
  let underWay = 0;
  let most = 0;
  start.mockImplementation(async () => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, 100));
    underWay -= 1;
    return undefined;
  });
  await vi.advanceTimersByTimeAsync(250);
  expect(start).toHaveBeenCalledTimes(40);
  expect(most).toBe(16);
  const closed = scheduler.close();
  await vi.advanceTimersByTimeAsync(100);
  await closed;
  expect(settled).toHaveBeenCalledTimes(40);
});
