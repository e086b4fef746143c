import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { JsonObject } from "../schemas.ts";
import { PreferHeaders, SERVICE_API } from "../service-api.ts";
import { JobSchema, OF_ONE_JOB } from "./jobs.ts";
import { NormalResultSchema } from "./normal.ts";

const { streamEvents } = SERVICE_API;

/** Operations on what belongs to one quantum job. */
export const QUANTUM_JOB_PARTS_API = {
  getNormalQuantumJobResult: {
    ...READS,
    ...OF_ONE_JOB,
    path: "/jobs/{id}/result/normalized",
    forExecutions: true,
    summary: "Get the result of a quantum job in one form",
    description:
      "Whatever form it was asked for in, and by which SDK: counts of each circuit by its bits, expectation values, or samples. Of a job that has not completed `code` and `detail`, as of `getQuantumJobResult`. NO_NORMAL_FORM: the backend has a form of its own, it is a dry run, or the result is too large to be counted here: more than 4 MB, 2,000,000 shots or 100,000 outcomes.",
    headers: PreferHeaders,
    responses: { 200: { description: "The result", schema: NormalResultSchema } },
    problems: [...OF_ONE_JOB.problems, "RESULT_NOT_READY", "NO_NORMAL_FORM", "RATE_LIMITED"],
  },
  getQuantumJobCalibration: {
    ...READS,
    ...OF_ONE_JOB,
    path: "/jobs/{id}/calibration",
    forExecutions: true,
    summary: "Get the calibration of the backend that a quantum job ran on",
    description:
      "Of the version that runs the job, which never changes, whatever the backend says by now. 204: that version has none.",
    responses: {
      200: { description: "The calibration", schema: JsonObject("As `describe` has returned it") },
      204: { description: "The version has none" },
    },
  },
  followQuantumJob: {
    ...streamEvents,
    ...READS,
    ...OF_ONE_JOB,
    answerMode: "events",
    path: "/jobs/{id}/events",
    summary: "Follow a quantum job as server-sent events",
    description:
      "`state`: the job, first as it is now, then at each change. `progress`, `partial`, `log`, `end` and `closed` as of executions: with the `id` of a `log` as Last-Event-ID a request continues behind its lines; after the last line comes the final `state`, then `end`. A comment comes after 15 seconds without an event. Not for executions of services: these wait by `Prefer: wait`.",
    events: { ...streamEvents.events, state: { description: "The job", schema: JobSchema } },
    problems: [...OF_ONE_JOB.problems, "LOG_EXPIRED", "RATE_LIMITED"],
  },
} as const satisfies OperationTable;
