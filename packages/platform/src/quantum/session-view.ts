import { formatTimestamp } from "@platform/contract/execution";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import type { QuantumSession, QuantumWorkload, SessionState } from "@platform/contract/quantum-api/sessions";
import type { SessionRecord } from "../store/quantum-sessions.ts";

/** Of what is known at this moment. */
export function toSessionState(
  session: Pick<SessionRecord, "isOver" | "acceptsJobs" | "jobCount" | "unended">,
): SessionState {
  const { isOver, acceptsJobs, jobCount, unended } = session;
  if (isOver) return "CLOSED";
  if (!acceptsJobs) return "DRAINING";
  if (jobCount === 0) return "OPEN";
  return unended > 0 ? "ACTIVE" : "INACTIVE";
}

/** A session as the quantum API has it. */
export function toQuantumSession(session: SessionRecord): QuantumSession {
  const { startedAt, closedAt, isOver, expiresAt } = session;
  return {
    id: session.id,
    backend_id: session.backendId,
    backend_version: session.version,
    provider: session.provider,
    status: toSessionState(session),
    final: isOver,
    mode: session.mode,
    accept_jobs: session.acceptsJobs && !isOver,
    created_at: formatTimestamp(session.createdAt),
    started_at: startedAt === null ? null : formatTimestamp(startedAt),
    closed_at: closedAt === null ? null : formatTimestamp(closedAt),
    expires_at: formatTimestamp(expiresAt),
    job_count: session.jobCount,
    usage_time_millis: Math.round(session.usageMs),
    metadata: { ...session.metadata },
    sdk_provider: session.sdkProvider,
    service_execution_id: session.serviceExecutionId,
  };
}

/** A session in a list of jobs and sessions. */
export function sessionToWorkload(session: SessionRecord): QuantumWorkload {
  const shown = toQuantumSession(session);
  return {
    id: shown.id,
    type: "SESSION",
    backend_id: shown.backend_id,
    provider: shown.provider,
    status: shown.status,
    name: null,
    tags: [],
    mode: shown.mode,
    job_count: shown.job_count,
    created_at: shown.created_at,
    started_at: shown.started_at,
    ended_at: shown.closed_at,
    usage_time_millis: shown.usage_time_millis,
    sdk_provider: shown.sdk_provider,
  };
}

/** A job in a list of jobs and sessions. */
export function jobToWorkload(job: QuantumJob): QuantumWorkload {
  return {
    id: job.id,
    type: "JOB",
    backend_id: job.backend_id,
    provider: job.provider,
    status: job.status,
    name: job.name,
    tags: job.tags,
    mode: null,
    job_count: null,
    created_at: job.created_at,
    started_at: job.started_at,
    ended_at: job.ended_at,
    usage_time_millis: job.usage_time_millis,
    sdk_provider: job.sdk_provider,
  };
}
