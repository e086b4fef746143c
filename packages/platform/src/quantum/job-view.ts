import { formatTimestamp, isFinal } from "@platform/contract/execution";
import type { JobState, QuantumJob } from "@platform/contract/quantum-api/jobs";
import { SECOND } from "@platform/engine/base/time";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import { NEVER_BEGAN, findCost } from "../store/quantum-costs.ts";
import type { JobFacts, JobFilter, JobRow } from "../store/quantum-jobs.ts";

const CANCELLED = ["CANCELLED"];

/** What of an execution a job shows. */
type Shown = Pick<JobRow, "id" | "status" | "createdAt" | "startedAt" | "endedAt" | "failure"> &
  Pick<ExecutionRecord, "waiting">;

/** UNKNOWN is FAILED: published clients would wait for ever for the end of what is unknown. */
export function toJobState({ status, failure }: Pick<Shown, "status" | "failure">): JobState {
  if (status === "PENDING" || status === "RUNNING") return status;
  if (status === "SUCCEEDED") return "COMPLETED";
  const code = failure?.code ?? "";
  if (CANCELLED.includes(code)) return "CANCELLED";
  return NEVER_BEGAN.includes(code) ? "ABORTED" : "FAILED";
}

/** The executions that are jobs in this state. */
export function toFilter(state: JobState): JobFilter {
  switch (state) {
    case "PENDING":
    case "RUNNING":
      return { statuses: [state] };
    case "COMPLETED":
      return { statuses: ["SUCCEEDED"] };
    case "CANCELLED":
      return { statuses: ["FAILED"], codes: CANCELLED };
    case "ABORTED":
      return { statuses: ["FAILED"], codes: NEVER_BEGAN };
    case "FAILED":
      return { statuses: ["FAILED", "UNKNOWN"], otherCodesThan: [...CANCELLED, ...NEVER_BEGAN] };
    default:
      return state satisfies never;
  }
}

/** A job as the quantum API has it. */
export function toQuantumJob(shown: Shown, facts: JobFacts, now = Date.now()): QuantumJob {
  const { id, status, createdAt, startedAt, endedAt, failure } = shown;
  const ran = startedAt === null || endedAt === null ? null : Math.max(0, endedAt - startedAt);
  return {
    id,
    backend_id: facts.backendId,
    backend_version: facts.backendVersion,
    provider: facts.provider,
    status: toJobState(shown),
    name: facts.name,
    tags: [...facts.tags],
    input_format: facts.inputFormat,
    input_params: { ...facts.inputParams },
    shots: facts.shots,
    sdk_provider: facts.sdkProvider,
    session_id: facts.sessionId ?? null,
    service_execution_id: facts.serviceExecutionId ?? null,
    created_at: formatTimestamp(createdAt),
    started_at: startedAt === null ? null : formatTimestamp(startedAt),
    ended_at: endedAt === null ? null : formatTimestamp(endedAt),
    usage_time_millis: ran,
    ...describePlace(shown, now),
    ...describeRun(shown, facts),
    error: isFinal(status) && failure !== null ? { code: failure.code, detail: failure.detail } : null,
    log_url: `/quantum/jobs/${id}/log`,
  };
}

/** Its place in the queue; null where nothing that was measured says so: nothing has run yet, or no worker runs such jobs. */
function describePlace({ status, waiting }: Shown, now: number) {
  const { position = null, estimateSeconds = null } = (status === "PENDING" ? waiting : undefined) ?? {};
  return {
    queue_position: position,
    estimated_start: estimateSeconds === null ? null : formatTimestamp(now + estimateSeconds * SECOND),
  };
}

function describeRun(shown: Shown, facts: JobFacts) {
  const { terms, digest = null, isDryRun = false, cachedFrom = null, maxCost = null, cache = false } = facts;
  return {
    dry_run: isDryRun,
    max_cost: maxCost,
    cache,
    cost: describeCost(shown, facts),
    currency: terms?.currency ?? null,
    digest,
    cached_from: cachedFrom,
  };
}

function describeCost(shown: Shown, { terms, isDryRun, cachedFrom }: JobFacts): string | null {
  const isFree = terms === undefined || isDryRun === true || cachedFrom !== undefined;
  if (isFree) return isFinal(shown.status) ? "0" : null;
  return findCost(terms, shown);
}
