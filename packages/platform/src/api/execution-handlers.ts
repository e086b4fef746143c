import { createExecutionActionHandlers } from "./execution-actions.ts";
import { createOverviewHandlers } from "./execution-overview.ts";
import { createOrganisationExecutionHandlers } from "./executions.ts";
import type { ExecutionDeps } from "./executions.ts";

/** Handlers of all executions that concern an organisation: reading, numbers and explanations, changes. */
export function createExecutionsHandlers(deps: ExecutionDeps) {
  return {
    ...createOrganisationExecutionHandlers(deps),
    ...createOverviewHandlers(deps),
    ...createExecutionActionHandlers(deps),
  };
}
