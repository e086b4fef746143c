import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { BACKEND_ID_PATTERN } from "../project.ts";
import { JsonObject, Nullable, StringEnum, Timestamp } from "../schemas.ts";
import { JobSchema, JobsPageSchema, JobsQuery, PAGE_QUERY, describePage } from "./jobs.ts";

/** The longest time that a session is open, in seconds. */
export const MOST_SESSION_SECONDS = 8 * 60 * 60;

const SESSION_STATES = ["OPEN", "ACTIVE", "INACTIVE", "DRAINING", "CLOSED"] as const;
/** The state of a session; CLOSED is final. */
export type SessionState = (typeof SESSION_STATES)[number];

const Mode = StringEnum(["batch", "dedicated"], {
  description: "As clients of quantum platforms send it; decides nothing",
});

const SessionSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the session" }),
    backend_id: Type.String({ description: "Id of its backend" }),
    backend_version: Type.String({
      description: "Version of the backend that runs all of its jobs, MAJOR.MINOR.PATCH",
    }),
    provider: Type.String({ description: "Who gives access to the backend" }),
    status: StringEnum(SESSION_STATES, {
      description:
        "OPEN: it has had no job. ACTIVE: a job waits or runs. INACTIVE: none does. DRAINING: it takes no more jobs. CLOSED: it was closed, its time is over, or the execution that has opened it has ended",
    }),
    final: Type.Boolean({ description: "Whether it is CLOSED" }),
    mode: Mode,
    accept_jobs: Type.Boolean({ description: "Whether it takes jobs" }),
    created_at: Timestamp("When it was opened"),
    started_at: Nullable(Timestamp("When its first job began"), { description: "Null: none has" }),
    closed_at: Nullable(Timestamp("When it was closed, its time was over, or its execution had ended"), {
      description: "Null: it is not",
    }),
    expires_at: Timestamp("When its time is over"),
    job_count: Type.Integer({ description: "Jobs that it has had" }),
    usage_time_millis: Type.Integer({ description: "How long those that have ended have run, together" }),
    metadata: JsonObject("As sent"),
    sdk_provider: Nullable(Type.String(), { description: "As sent" }),
    service_execution_id: Nullable(Type.String(), {
      description:
        "Id of the execution of a service that has opened it, and with which it ends; null: a user has",
    }),
  },
  { title: "QuantumSession", description: "Jobs on one version of a backend, which go before others" },
);
/** A session as the quantum API has it. */
export type QuantumSession = Static<typeof SessionSchema>;

const SessionRequestSchema = Type.Object(
  {
    backend_id: Type.String({ pattern: BACKEND_ID_PATTERN, description: "Id of the backend" }),
    mode: Type.Optional(Mode),
    provider: Type.Optional(Nullable(Type.String({ maxLength: 200 }), { description: "Decides nothing" })),
    ttl: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: MOST_SESSION_SECONDS,
          description: "How long it is open, in seconds",
        }),
        { description: `Null: as long as a session can be, ${MOST_SESSION_SECONDS}` },
      ),
    ),
    metadata: Type.Optional(Nullable(JsonObject("For its user"), { description: "Null: none" })),
    sdk_provider: Type.Optional(
      Nullable(Type.String({ maxLength: 64 }), { description: "What has sent it" }),
    ),
  },
  { additionalProperties: false, title: "QuantumSessionRequest", description: "A session to be opened" },
);

const WORKLOAD_TYPES = ["JOB", "SESSION"] as const;

const WorkloadSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the job or session" }),
    type: StringEnum(WORKLOAD_TYPES, { description: "A job that is in no session, or a session" }),
    backend_id: JobSchema.properties.backend_id,
    provider: JobSchema.properties.provider,
    status: Type.String({ description: "As of a job, or of a session" }),
    name: Nullable(Type.String(), { description: "Null: a session, or a job that has none" }),
    tags: Type.Array(Type.String(), { description: "Of a job" }),
    mode: Nullable(Mode, { description: "Null: a job" }),
    job_count: Nullable(Type.Integer(), { description: "Jobs of a session; null: a job" }),
    created_at: SessionSchema.properties.created_at,
    started_at: JobSchema.properties.started_at,
    ended_at: JobSchema.properties.ended_at,
    usage_time_millis: JobSchema.properties.usage_time_millis,
    sdk_provider: JobSchema.properties.sdk_provider,
  },
  { title: "QuantumWorkload", description: "A job, or a session with its jobs" },
);
/** A job or session of a list of both. */
export type QuantumWorkload = Static<typeof WorkloadSchema>;

const ONE = {
  params: Type.Object({ id: Type.String({ description: "Id of a session" }) }),
  problems: ["NOT_FOUND"],
} as const;
const ENDS = { ...REMOVES, ...ONE, allows: "run" } as const;

/** Operations on sessions, and on lists of jobs and sessions. */
export const SESSIONS_API = {
  createQuantumSession: {
    ...WRITES,
    path: "/sessions",
    forExecutions: true,
    allows: "run",
    audit: "quantum-session.create",
    summary: "Open a session on a backend",
    description:
      "Its jobs (`session_id`) run on the version that is the latest now, and go before other jobs of the organisation that wait. One that an execution of a service opens ends with it.",
    body: SessionRequestSchema,
    responses: {
      201: {
        description: "The session",
        schema: SessionSchema,
        headers: { Location: "Path of the session" },
      },
    },
    problems: ["BACKEND_NOT_FOUND"],
  },
  getQuantumSession: {
    ...READS,
    ...ONE,
    path: "/sessions/{id}",
    forExecutions: true,
    summary: "Get a session",
    description: "With the sums of its jobs.",
    responses: { 200: { description: "The session", schema: SessionSchema } },
  },
  getQuantumSessionStatus: {
    ...READS,
    ...ONE,
    rate: "poll",
    path: "/sessions/{id}/status",
    forExecutions: true,
    summary: "Get the state of a session",
    description: "As `getQuantumSession`, without anything else.",
    responses: {
      200: {
        description: "The state",
        schema: Type.Object(
          { status: SessionSchema.properties.status },
          { title: "QuantumSessionStatus", description: "The state of a session" },
        ),
      },
    },
  },
  listQuantumSessionJobs: {
    ...READS,
    ...ONE,
    path: "/sessions/{id}/jobs",
    forExecutions: true,
    summary: "List the jobs of a session",
    description: "Newest first.",
    query: JobsQuery,
    responses: { 200: { description: "One page", schema: JobsPageSchema } },
    problems: ["NOT_FOUND", "RATE_LIMITED"],
  },
  patchQuantumSession: {
    ...WRITES,
    ...ONE,
    method: "PATCH",
    path: "/sessions/{id}",
    forExecutions: true,
    allows: "run",
    audit: "quantum-session.update",
    summary: "Let a session take no more jobs, or take them again",
    description: "Those that it has go on. CONFLICT: it is closed.",
    body: Type.Object(
      { accept_jobs: Type.Boolean({ description: "Whether it takes jobs" }) },
      { additionalProperties: false, title: "QuantumSessionUpdate", description: "What is changed" },
    ),
    responses: { 200: { description: "The session", schema: SessionSchema } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  closeQuantumSession: {
    ...ENDS,
    path: "/sessions/{id}",
    forExecutions: true,
    audit: "quantum-session.close",
    summary: "Close a session",
    description: "It takes no more jobs; those that it has go on. Nothing happens to one that is closed.",
    responses: { 204: { description: "It is closed" } },
  },
  cancelQuantumSession: {
    ...ENDS,
    method: "POST",
    path: "/sessions/{id}/cancel",
    forExecutions: true,
    audit: "quantum-session.cancel",
    summary: "Close a session and cancel its jobs",
    description: "Those that wait end at once, those that run within seconds.",
    responses: { 204: { description: "It is closed, and its jobs end" } },
  },
  listQuantumWorkloads: {
    ...READS,
    path: "/workloads",
    summary: "List jobs and sessions together",
    description: "Newest first; jobs of a session are counted by it.",
    query: Type.Object({
      ...PAGE_QUERY,
      type: Type.Optional(
        StringEnum(WORKLOAD_TYPES, { description: "Only jobs that are in no session, or only sessions" }),
      ),
    }),
    responses: {
      200: {
        description: "One page",
        schema: describePage(
          "QuantumWorkloadPage",
          Type.Array(WorkloadSchema, { description: "Newest first" }),
        ),
      },
    },
    problems: ["RATE_LIMITED"],
  },
  getQuantumRuntimeMinutes: {
    ...READS,
    path: "/runtime-minutes",
    summary: "List allowances of runtime",
    description: "There are none: what limits jobs is the budget of the organisation.",
    responses: {
      200: {
        description: "No allowances",
        schema: Type.Object(
          {
            allowances: Type.Array(JsonObject("An allowance"), {
              maxItems: 0,
              description: "Always empty",
            }),
          },
          { title: "QuantumRuntimeMinutes", description: "Allowances of runtime" },
        ),
      },
    },
  },
} as const satisfies OperationTable;
