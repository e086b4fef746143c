import { createRateReserve } from "../metering/rate-reserve.ts";
import { decideDue } from "../schedules/decide.ts";
import { createScheduler } from "../schedules/scheduler.ts";
import { createRunStarter } from "../schedules/start-run.ts";
import { planDue } from "../store/schedules/due.ts";
import { readWait } from "../store/schedules/runs.ts";
import type { Shared } from "./shared.ts";

/** Starts executions when schedules are due: a part of the control role. */
export function startSchedules({ stores, executions, maintenance, config, closers, logger }: Shared): void {
  const reserve = createRateReserve({ store: stores.rateBuckets });
  const { startsPerSecond } = config;
  const scheduler = createScheduler({
    planDue: () => planDue(maintenance, decideDue),
    readWait: () => readWait(maintenance),
    runs: stores.scheduleRuns,
    starter: createRunStarter({ ...stores, executions, reserve, startsPerSecond }),
    logger,
  });
  const unsubscribe = stores.schedules.subscribe(scheduler.announce);
  closers.add("schedules", async () => {
    unsubscribe();
    await scheduler.close();
  });
}
