import type { Logger } from "@platform/engine/base/logger";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { Executions } from "@platform/engine/executions/executions";
import type { BackendStore } from "../store/backends.ts";
import type { ServiceExecutionStore } from "../store/service-executions.ts";

/** Between two looks. */
const EVERY_MS = 2 * SECOND;
/** Of the time, one look in so many is the most: one that finds many jobs waiting, of whomever, takes long. */
const SHARE = 20;
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
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const began = readMonotonic();
    try {
      await cancelLeftJobs(deps);
    } catch (error) {
      deps.logger.warn({ err: error }, "quantum jobs of executions that have ended could not be cancelled");
    }
    plan(pauseAfter(readMonotonic() - began));
  };
  const plan = (delayMs: number): void => {
    if (!isStopped) timer = setTimeout(() => void (round = look()), delayMs);
  };
  plan(pauseAfter(0));
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await round;
  };
}

/** How long it is until the next look, after one that took so long; processes do not look at the same time. */
export function pauseAfter(tookMs: number): number {
  return Math.max(EVERY_MS, tookMs * (SHARE - 1)) * (0.8 + 0.2 * Math.random());
}

async function cancelLeftJobs({ backends, serviceExecutions, executions }: LeftJobsDeps): Promise<void> {
  if (!(await backends.isAny())) return;
  for (const { id, organisationId } of await serviceExecutions.listLeftJobs(AT_ONCE))
    await executions.cancel(id, organisationId);
}
