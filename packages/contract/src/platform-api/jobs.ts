import { Type } from "typebox";
import { LogEntrySchema, StatusRecordSchema } from "../execution.ts";
import type { OperationTable } from "../operation.ts";
import { REHEARSES, SERVICE_API } from "../service-api.ts";
import { pageOf } from "../schemas.ts";

const READ = { allows: "read", scope: "organisation" } as const;
const RUN = { allows: "run", scope: "organisation" } as const;

const VersionQuery = Type.Object({
  serviceKey: Type.String({ description: "Key of a service of the organisation" }),
  version: Type.Optional(Type.String({ description: "MAJOR.MINOR.PATCH; default: the latest live version" })),
});

/** Jobs: executions that an organisation starts itself, without application and subscription. The same operations as the service API. */
export const JOBS_API = {
  startJob: {
    ...SERVICE_API.startExecution,
    ...RUN,
    path: "/jobs",
    audit: "job.start",
    summary: "Start a job",
    description: `Starts a service of the organisation without application and subscription. Creates a new job, except with an \`Idempotency-Key\` that has started one. A 201 means that it is durable. ${REHEARSES}`,
    query: VersionQuery,
    problems: [
      "SERVICE_NOT_FOUND",
      "VERSION_RETIRED",
      "DATA_REFERENCE_INVALID",
      "IDEMPOTENCY_CONFLICT",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  listJobs: {
    ...SERVICE_API.listExecutions,
    ...READ,
    path: "/jobs",
    summary: "List the jobs of the organisation",
    description: "Newest first, in pages like all lists of this API.",
    responses: { 200: { description: "One page", schema: pageOf("JobPage", StatusRecordSchema) } },
  },
  getJob: {
    ...SERVICE_API.getState,
    ...READ,
    path: "/jobs/{id}",
    summary: "Get the state of a job",
  },
  getJobResult: {
    ...SERVICE_API.getResult,
    ...READ,
    path: "/jobs/{id}/result",
    summary: "Get the result of a job, or why there is none",
  },
  getJobResultFile: {
    ...SERVICE_API.getResultFile,
    ...READ,
    path: "/jobs/{id}/result/{file}",
    summary: "Download a file of a job's result",
  },
  getJobReceipt: {
    ...SERVICE_API.getReceipt,
    ...READ,
    path: "/jobs/{id}/receipt",
    summary: "Get a signed receipt of a finished job",
  },
  getJobLog: {
    ...SERVICE_API.getLog,
    ...READ,
    path: "/jobs/{id}/log",
    summary: "Get the log lines of a job, oldest first",
    description:
      "About 1 MB per page. `nextCursor` is null once the job is finished and its last line has been returned.",
    responses: { 200: { description: "One page", schema: pageOf("LogPage", LogEntrySchema) } },
  },
  streamJobEvents: {
    ...SERVICE_API.streamEvents,
    ...READ,
    path: "/jobs/{id}/events",
    summary: "Follow a job as server-sent events",
  },
  cancelJob: {
    ...SERVICE_API.cancelExecution,
    ...RUN,
    path: "/jobs/{id}/cancel",
    audit: "job.cancel",
    summary: "Cancel a job",
  },
  startJobBatch: {
    ...SERVICE_API.startBatch,
    ...RUN,
    path: "/jobs/batch",
    audit: "job-batch.start",
    summary: "Start many jobs",
    query: VersionQuery,
    problems: ["SERVICE_NOT_FOUND", ...SERVICE_API.startBatch.problems],
  },
  getJobBatch: {
    ...SERVICE_API.getBatch,
    ...READ,
    path: "/jobs/batch/{batchId}",
    summary: "Get the progress of a batch of jobs",
  },
  cancelJobBatch: {
    ...SERVICE_API.cancelBatch,
    ...RUN,
    path: "/jobs/batch/{batchId}/cancel",
    audit: "job-batch.cancel",
    summary: "Cancel a batch of jobs",
  },
} as const satisfies OperationTable;
