import { Type } from "typebox";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { QUANTUM_JOBS_API } from "./jobs.ts";

const { query, responses } = QUANTUM_JOBS_API.listQuantumJobs;

const ExecutionParams = Type.Object({
  executionId: Type.String({ maxLength: 64, description: "Id of an execution of a service" }),
});

/** Operations on what executions of services have started. */
export const SERVICE_EXECUTIONS_API = {
  listServiceExecutionWorkloads: {
    ...READS,
    path: "/service-executions/{executionId}/workloads",
    forExecutions: true,
    summary: "List the quantum jobs that an execution of a service has started",
    description: "Newest first. An execution itself lists only its own.",
    params: ExecutionParams,
    query: Type.Omit(query, ["serviceExecutionId"]),
    responses,
    problems: ["RATE_LIMITED"],
  },
} as const satisfies OperationTable;
