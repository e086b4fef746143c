import { createExecutions } from "@platform/engine/executions/executions";
import type { Executions } from "@platform/engine/executions/executions";
import type { ExecutionStore, InputSource } from "@platform/engine/store/execution-store";
import { createRateReserve } from "../metering/rate-reserve.ts";
import type { Database } from "../postgres/database.ts";
import { decideDue } from "../schedules/decide.ts";
import { startRun } from "../schedules/settle-run.ts";
import { createRunStarter } from "../schedules/start-run.ts";
import type { RunStarter } from "../schedules/start-run.ts";
import { planDue } from "../store/schedules/due.ts";
import type { RunClaim } from "../store/schedules/runs.ts";
import { createStores } from "../store/stores.ts";
import type { Stores } from "../store/stores.ts";

/** What one process of the control role does with schedules, step by step. */
export interface SchedulingProcess {
  readonly stores: Stores;
  readonly starter: RunStarter;
  readonly plan: () => Promise<boolean>;
  readonly claim: () => Promise<readonly RunClaim[]>;
  readonly start: (claim: RunClaim) => Promise<unknown>;
  /** All of it once. */
  readonly round: () => Promise<void>;
}

/** `database`: of its own connections and clock. */
export function createSchedulingProcess(
  database: Database,
  executions: Pick<Executions, "start" | "state">,
  startsPerSecond = 1_000,
): SchedulingProcess {
  const stores = createStores(database);
  const reserve = createRateReserve({ store: stores.rateBuckets });
  const starter = createRunStarter({ ...stores, executions, reserve, startsPerSecond });
  const plan = () => planDue(database, decideDue);
  const claim = () => stores.scheduleRuns.claim(100, 60);
  const start = (run: RunClaim) => startRun({ runs: stores.scheduleRuns, starter }, run);
  const round = async () => {
    while (await plan());
    await Promise.all((await claim()).map(start));
  };
  return { stores, starter, plan, claim, start, round };
}

async function refuse(): Promise<never> {
  throw new Error("Nothing is read by reference here.");
}

/** Of a process that reads no data pools. */
export function createPlainExecutions(store: ExecutionStore): Executions {
  const inputs: InputSource = { pin: refuse, pinPools: refuse, place: refuse };
  return createExecutions({ store, inputs });
}

/** A schedule that is due once a year, and could be started at any moment. */
export const YEARLY = "0 0 1 1 *";
