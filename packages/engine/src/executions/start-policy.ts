import type { Priority, ServicePolicy, TargetService } from "@platform/contract/policy";
import type { StoredRetries } from "@platform/contract/retries";
import type { NewExecution } from "../store/execution-store.ts";
import { BACKEND_PRIORITY } from "../store/kinds.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";

/** Whether services of the organisation may have the priority high. */
export type AllowsHigh = (organisationId: string) => boolean;

/** The place of a class in the queue, whose highest is served first. */
const QUEUE_PRIORITIES = { low: -1, normal: 0, high: 1 } as const satisfies Record<Priority, number>;

/** What the policy of its service makes of a start. */
export function applyPolicy(
  { service, timeoutSeconds, kind, isExternal = false }: PolicyTarget,
  allowsHigh: AllowsHigh,
): Pick<NewExecution, "timeoutSeconds" | "priority" | "retries" | "limitKey" | "startWithinSeconds"> {
  if (service === undefined) return { timeoutSeconds, ...(isExternal ? { retries: { resumes: true } } : {}) };
  const { policy } = service;
  const { startWithinSeconds } = policy;
  const priority = kind === "backend" ? BACKEND_PRIORITY : findPriority(service, allowsHigh);
  return {
    timeoutSeconds: policy.timeoutSeconds ?? timeoutSeconds,
    ...(priority === 0 ? {} : { priority }),
    ...chooseRetries(policy, isExternal),
    ...(isLimited(policy) ? { limitKey: service.key } : {}),
    ...(startWithinSeconds === undefined ? {} : { startWithinSeconds }),
  };
}

type PolicyTarget = Pick<VersionTarget, "service" | "timeoutSeconds" | "kind" | "isExternal">;

function chooseRetries(
  { retries }: ServicePolicy,
  isExternal: boolean,
): { readonly retries?: StoredRetries } {
  if (isExternal) return { retries: { ...retries, resumes: true } };
  return retries === undefined ? {} : { retries };
}

function isLimited({ concurrency = {} }: ServicePolicy): boolean {
  return concurrency.service !== undefined || concurrency.subscription !== undefined;
}

/** What the operator no longer allows is normal: the policy may be older than that. */
function findPriority({ organisationId, policy }: TargetService, allowsHigh: AllowsHigh): number {
  const { priority = "normal" } = policy;
  if (priority === "high" && !allowsHigh(organisationId)) return QUEUE_PRIORITIES.normal;
  return QUEUE_PRIORITIES[priority];
}
