import { Type } from "typebox";
import { LogEntrySchema, StatusRecordSchema } from "../execution.ts";
import type { OperationTable } from "../operation.ts";
import { SERVICE_API } from "../service-api.ts";
import { pageOf } from "../schemas.ts";
import { AUTHENTICATED, ON_SERVICE } from "./common.ts";

/** Problem codes of an operation on one job. */
const OF_ONE = [...AUTHENTICATED, "EXECUTION_NOT_FOUND", "RESULT_EXPIRED"] as const;

/** Jobs: executions that an organisation starts itself, without application and subscription. The same six operations as the service API. */
export const JOBS_API = {
  startJob: {
    ...SERVICE_API.startExecution,
    path: "/jobs",
    allows: "write",
    scope: "organisation",
    audit: "job.start",
    summary: "Start a job",
    description:
      "Starts a service of the organisation without application and subscription. Every call creates a new job; a 201 means that it is durable.",
    query: Type.Object({
      serviceKey: Type.String({ description: "Key of a service of the organisation" }),
      version: Type.Optional(
        Type.String({ description: "MAJOR.MINOR.PATCH; default: the latest live version" }),
      ),
    }),
    problems: [...ON_SERVICE, "VERSION_RETIRED", "DATA_REFERENCE_INVALID", "RATE_LIMITED"],
  },
  listJobs: {
    ...SERVICE_API.listExecutions,
    path: "/jobs",
    allows: "read",
    scope: "organisation",
    summary: "List the jobs of the organisation",
    description: "Newest first, in pages like all lists of this API.",
    responses: { 200: { description: "One page", schema: pageOf("JobPage", StatusRecordSchema) } },
    problems: AUTHENTICATED,
  },
  getJob: {
    ...SERVICE_API.getState,
    path: "/jobs/{id}",
    allows: "read",
    scope: "organisation",
    summary: "Get the state of a job",
    problems: OF_ONE,
  },
  getJobResult: {
    ...SERVICE_API.getResult,
    path: "/jobs/{id}/result",
    allows: "read",
    scope: "organisation",
    summary: "Get the result of a job, or why there is none",
    problems: [...OF_ONE, "RESULT_NOT_READY"],
  },
  getJobLog: {
    ...SERVICE_API.getLog,
    path: "/jobs/{id}/log",
    allows: "read",
    scope: "organisation",
    summary: "Get the log lines of a job, oldest first",
    description:
      "About 1 MB per page. `nextCursor` is null once the job is finished and its last line has been returned.",
    responses: { 200: { description: "One page", schema: pageOf("LogPage", LogEntrySchema) } },
    problems: OF_ONE,
  },
  cancelJob: {
    ...SERVICE_API.cancelExecution,
    path: "/jobs/{id}/cancel",
    allows: "write",
    scope: "organisation",
    audit: "job.cancel",
    summary: "Cancel a job",
    problems: OF_ONE,
  },
} as const satisfies OperationTable;
