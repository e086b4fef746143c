import type { Logger } from "@platform/engine/base/logger";
import { SECOND } from "@platform/engine/base/time";
import type { Executions } from "@platform/engine/executions/executions";
import type { BackendStore } from "../store/backends.ts";
import type { ServiceExecutionStore } from "../store/service-executions.ts";

/** Between two looks. */
const EVERY_MS = 2 * SECOND;
/** Jobs that one look ends; those of more come next. */
const AT_ONCE = 100;

/** What is looked at, and how jobs are ended. */
interface LeftJobsDeps {
  readonly backends: Pick<BackendStore, "isAny">;
  readonly serviceExecutions: Pick<ServiceExecutionStore, "listLeftJobs">;
  readonly executions: Pick<Executions, "cancel">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Cancels quantum jobs whose service execution has ended, however it has: nobody waits for them any more. Every control process does. Returns
 * a function that stops it and waits for a round under way.
 */
export function startLeftJobs(deps: LeftJobsDeps): () => Promise<void> {
  let round: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    try {
      await cancelLeftJobs(deps);
    } catch (error) {
      deps.logger.warn({ err: error }, "quantum jobs of executions that have ended could not be cancelled");
    }
    round = null;
  };
  const timer = setInterval(() => (round ??= look()), EVERY_MS * (0.8 + 0.2 * Math.random()));
  return async () => {
    clearInterval(timer);
    await round;
  };
}

async function cancelLeftJobs({ backends, serviceExecutions, executions }: LeftJobsDeps): Promise<void> {
  if (!(await backends.isAny())) return;
  for (const { id, organisationId } of await serviceExecutions.listLeftJobs(AT_ONCE))
    await executions.cancel(id, organisationId);
}
