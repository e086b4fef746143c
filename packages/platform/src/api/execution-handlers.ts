import { createStartHandler } from "./start-as-application.ts";
import type { StartDeps } from "./start-as-application.ts";
import { createExecutionActionHandlers } from "./execution-actions.ts";
import { createOverviewHandlers } from "./execution-overview.ts";
import { createOrganisationExecutionHandlers } from "./executions.ts";
import type { ExecutionDeps } from "./executions.ts";
import { createSearchGate } from "./search-gate.ts";

/** Handlers of all executions that concern an organisation: reading, numbers and explanations, changes. */
export function createExecutionsHandlers(given: Omit<ExecutionDeps, "searches"> & StartDeps) {
  const deps = { ...given, searches: createSearchGate() };
  return {
    ...createOrganisationExecutionHandlers(deps),
    ...createOverviewHandlers(deps),
    ...createExecutionActionHandlers(deps),
    ...createStartHandler(deps),
  };
}
