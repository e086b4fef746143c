import { createRunStarter } from "../schedules/start-run.ts";
import type { StarterDeps } from "../schedules/start-run.ts";
import { createScheduleHandlers } from "./schedules.ts";
import type { ScheduleDeps } from "./schedules.ts";
import { createStartHandler } from "./start-as-application.ts";
import type { StartDeps } from "./start-as-application.ts";
import { createExecutionActionHandlers } from "./execution-actions.ts";
import { createOverviewHandlers } from "./execution-overview.ts";
import { createFollowHandler } from "./follow-execution.ts";
import { createOrganisationExecutionHandlers } from "./executions.ts";
import type { ExecutionDeps } from "./executions.ts";
import { createFairGate } from "../base/fair-gate.ts";

/**
 * Lists and counts, each of which may keep a connection and the database busy for a second. In all one less than there are connections
 * (store/history/history.ts): what reads a single execution never waits for them. Nobody has all places.
 */
const SEARCHES = { what: "searches of executions", inAll: 3, perSharer: 2, waiting: 20 };

/** What all of them work with, but what is made here. */
type Given = Omit<ExecutionDeps, "searches"> & StartDeps & Omit<ScheduleDeps, "starter"> & StarterDeps;

/** Handlers of all executions that concern an organisation: reading, numbers and explanations, changes, and what starts them by a calendar. */
export function createExecutionsHandlers(given: Given) {
  const deps = { ...given, searches: createFairGate(SEARCHES) };
  return {
    ...createOrganisationExecutionHandlers(deps),
    ...createOverviewHandlers(deps),
    ...createFollowHandler(deps),
    ...createExecutionActionHandlers(deps),
    ...createStartHandler(deps),
    ...createScheduleHandlers({ ...deps, starter: createRunStarter(deps) }),
  };
}
