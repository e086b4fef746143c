import { MINUTE, SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import { createTakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeResult } from "@platform/engine/queue/take-machine";
import type { RunClaim, ScheduleRunStore } from "../store/schedules/runs.ts";
import { LEASE_SECONDS, startRun } from "./settle-run.ts";
import type { RunDeps } from "./settle-run.ts";

/** Starts at the same time, of all schedules. */
const AT_ONCE = 16;
/** It wakes up when something is due; this makes it correct where a notification was lost, or a clock was set. Milliseconds. */
const POLL_MS = MINUTE;
/** Timers end a little early. Milliseconds. */
const MARGIN_MS = 5;
/** What is due, and is not to be had: another process has it. Milliseconds. */
const TAKEN_MS = SECOND;
const LONGEST_MS = 10 * MINUTE;

/** What schedules are run with. */
export interface SchedulerOptions extends RunDeps {
  /** Makes runs of the schedules that are due; returns whether there may be more. */
  readonly planDue: () => Promise<boolean>;
  /** Milliseconds until something is due; null: nothing will be. */
  readonly readWait: () => Promise<number | null>;
  readonly runs: Pick<ScheduleRunStore, "claim" | "settleStarted" | "settleRefused">;
  readonly logger: Logger;
}

/** Starts executions when schedules are due. */
export interface Scheduler {
  /** Something may be due earlier. */
  readonly announce: () => void;
  /** Waits for the starts that are under way. */
  readonly close: () => Promise<void>;
}

/** Begins to look. Without anything due it asks once a minute; processes share what is due. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const starts = new Set<Promise<void>>();
  let wake: NodeJS.Timeout | undefined;
  const loop = createTakeLoop<number>({
    readPermit: () => (starts.size < AT_ONCE ? AT_ONCE - starts.size : null),
    take: async (limit) => {
      clearTimeout(wake);
      const left = await take(limit);
      if (left === "nothing") await sleep();
      return left;
    },
    pollMs: POLL_MS,
    onFailure: (error) => options.logger.warn({ err: error }, "schedules could not be looked at"),
  });

  async function take(limit: number): Promise<TakeResult> {
    const isMore = await options.planDue();
    const claims = await options.runs.claim(limit, LEASE_SECONDS);
    for (const claim of claims) begin(claim);
    return isMore || claims.length > 0 ? "something" : "nothing";
  }

  function begin(claim: RunClaim): void {
    const start = startRun(options, claim)
      .then(
        () => undefined,
        // Its lease ends, and it is tried again.
        (error: unknown) =>
          options.logger.warn({ err: error, runId: claim.id }, "an occurrence of a schedule was not started"),
      )
      .finally(() => {
        starts.delete(start);
        loop.free();
      });
    starts.add(start);
  }

  async function sleep(): Promise<void> {
    const wait = await options.readWait();
    if (wait === null) return;
    const pause = wait === 0 ? TAKEN_MS : Math.min(LONGEST_MS, wait + MARGIN_MS);
    wake = setTimeout(() => loop.announce(), pause);
  }

  loop.open();
  return {
    announce: loop.announce,
    close: async () => {
      await loop.close();
      clearTimeout(wake);
      await Promise.all(starts);
    },
  };
}
