import { Type } from "typebox";
import type { Static, TSchema } from "typebox";
import { LogEntrySchema } from "../execution.ts";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { BACKEND_ID_PATTERN } from "../project.ts";
import { JsonObject, Nullable, StringEnum, Timestamp } from "../schemas.ts";
import { LAST_PAGE, SEARCH_LIMITS } from "../search-limits.ts";
import { Amount, Currency, GivenAmount } from "./price.ts";
import { PageQuery, PreferHeaders, StartHeaders } from "../service-api.ts";

/** States of a quantum job; all but the first two are final. Clients wait for the final ones that they know: there are no others. */
export const JOB_STATES = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "ABORTED"] as const;
/** See `JOB_STATES`. */
export type JobState = (typeof JOB_STATES)[number];

/** What names and tags of jobs may be. */
const JOB_TEXTS = { name: SEARCH_LIMITS.quantumJob, tags: 20, tag: SEARCH_LIMITS.quantumJobTag } as const;

const Shots = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: "Repetitions of each circuit",
});

/** What a job is started with. `input` is passed to the backend as it was sent. */
export const JobRequestSchema = Type.Object(
  {
    backend_id: Type.String({ pattern: BACKEND_ID_PATTERN, description: "Id of the backend" }),
    input: Type.Unsafe<unknown>({ description: "What is to be run, as the format says" }),
    input_format: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Format of the input, one that the backend supports",
    }),
    input_params: Type.Optional(JsonObject("Options of the backend, such as a seed")),
    shots: Type.Optional(Shots),
    name: Type.Optional(Nullable(Type.String({ maxLength: JOB_TEXTS.name }), { description: "For people" })),
    tags: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: JOB_TEXTS.tag }), { maxItems: JOB_TEXTS.tags }),
        {
          description: "For filters",
        },
      ),
    ),
    sdk_provider: Type.Optional(
      Nullable(Type.String({ maxLength: 64 }), { description: "What has sent it, such as QISKIT" }),
    ),
    provider: Type.Optional(
      Nullable(Type.String({ maxLength: 64 }), {
        description: "Sent by published clients, and not read: the backend has one",
      }),
    ),
    qasm: Type.Optional(
      Type.Unsafe<unknown>({ description: "Sent by published clients for people, and not kept" }),
    ),
    detached: Type.Optional(
      Type.Boolean({
        description:
          "Of a job that an execution of a service starts: it goes on when that has ended. Default: it is cancelled then",
      }),
    ),
    session_id: Type.Optional(
      Nullable(Type.String({ maxLength: 36 }), {
        description: "A session that is open, whose backend it is for; null: none",
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        description:
          "Whether the backend only checks it: it costs nothing, stands in no list, and its result says what it would cost",
      }),
    ),
    cache: Type.Optional(
      Type.Boolean({
        description:
          "Whether an earlier job that has run the same may answer it, free: it is completed at once then. Only where its options have a seed, and the backend is deterministic",
      }),
    ),
    max_cost: Type.Optional(
      Nullable(GivenAmount("In the currency of the backend's price"), {
        description: "It is refused if it may cost more; null: it may cost anything",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "QuantumJobRequest",
    description: "A job for a backend",
  },
);
/** What a job is started with. */
export type JobRequest = Static<typeof JobRequestSchema>;

const JobErrorSchema = Type.Object(
  {
    code: Type.String({ description: "Why it did not complete" }),
    detail: Type.String({ description: "The same as a sentence" }),
  },
  { title: "QuantumJobError", description: "Why a job did not complete" },
);

/** A quantum job, as all operations show it. */
export const JobSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the job, and of its execution" }),
    backend_id: Type.String({ description: "Id of the backend that it was started for" }),
    backend_version: Type.String({ description: "Version of it that runs the job, MAJOR.MINOR.PATCH" }),
    provider: Type.String({ description: "Who gives access to the backend" }),
    status: StringEnum(JOB_STATES, {
      description: "PENDING, RUNNING; final: COMPLETED, FAILED, CANCELLED, ABORTED (it never began)",
    }),
    name: Nullable(Type.String(), { description: "Null: it has none" }),
    tags: Type.Array(Type.String(), { description: "As sent" }),
    input_format: Type.String({ description: "As sent" }),
    input_params: JsonObject(
      "As sent, but of each that is larger than 512 bytes its size, and not more than 2 KB; numbers beyond 2^53 are rounded",
    ),
    shots: Nullable(Type.Integer(), { description: "As sent; null: the backend decides" }),
    sdk_provider: Nullable(Type.String(), { description: "As sent" }),
    service_execution_id: Nullable(Type.String(), {
      description: "Id of the execution of a service that has started it; null: a user has",
    }),
    session_id: Nullable(Type.String(), { description: "The session that it is of; null: it is of none" }),
    created_at: Timestamp("When it was created"),
    started_at: Nullable(Timestamp("When it began"), { description: "Null: it has not" }),
    ended_at: Nullable(Timestamp("When it ended"), { description: "Null: it has not" }),
    usage_time_millis: Nullable(Type.Integer(), {
      description: "How long it has run; null: it has not ended",
    }),
    queue_position: Nullable(Type.Integer(), {
      description: "Jobs before it; null: it does not wait, or it is not known",
    }),
    estimated_start: Nullable(Timestamp("When it is likely to begin"), {
      description:
        "By how long the last jobs of the same backend have run, and how many run at a time; null: it does not wait, too little is known, or it is shown in a list",
    }),
    dry_run: Type.Boolean({ description: "Whether the backend only checks it: its result is an estimate" }),
    max_cost: Nullable(Amount("What it may cost at most, as sent"), {
      description: "Null: it may cost anything",
    }),
    cache: Type.Boolean({ description: "Whether an earlier job may answer it, as sent" }),
    cost: Nullable(Amount("What it has cost"), { description: "Null: it has not ended" }),
    currency: Nullable(Currency, { description: "Of the cost; null: its backend has no price" }),
    digest: Nullable(Type.String(), {
      description:
        "SHA-256 of the version of the backend and of all that was sent to it; null: started by an earlier version of the platform",
    }),
    cached_from: Nullable(Type.String(), {
      description: "Id of the job whose result it has; null: it was run itself",
    }),
    error: Nullable(JobErrorSchema, { description: "Null: it has not failed" }),
    log_url: Type.String({ description: "Path of its log" }),
  },
  { title: "QuantumJob", description: "An execution of a backend" },
);
/** A quantum job. */
export type QuantumJob = Static<typeof JobSchema>;

const JobStatusSchema = Type.Object(
  { status: JobSchema.properties.status },
  { title: "QuantumJobStatus", description: "The state of a job" },
);

/** One page of a list, as clients of quantum platforms know them. */
export function describePage<T extends TSchema>(title: string, content: T) {
  return Type.Object(
    {
      content,
      page: Type.Integer({ description: "As asked" }),
      size: Type.Integer({ description: "As asked" }),
      total_elements: Type.Integer({ description: "How many there are; at most 10,000 are counted" }),
      total_pages: Type.Integer({ description: "Of this size" }),
      last: Type.Boolean({ description: "Whether no page follows" }),
    },
    { title, description: "One page of a list" },
  );
}

/** One page of jobs. */
export const JobsPageSchema = describePage(
  "QuantumJobPage",
  Type.Array(JobSchema, { description: "The jobs, newest first" }),
);

/** What the rows share that are about one job. */
export const OF_ONE_JOB = {
  params: Type.Object({ id: Type.String({ description: "Id of a job" }) }),
  problems: ["EXECUTION_NOT_FOUND", "RESULT_EXPIRED"],
} as const;

/** Which page of a list is wanted. */
export const PAGE_QUERY = {
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: LAST_PAGE, description: "From 0; default 0" })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Default 20" })),
};

/** Which jobs are wanted. */
export const JobsQuery = Type.Object({
  ...PAGE_QUERY,
  sort: Type.Optional(Type.String({ maxLength: 100, description: "createdAt,desc is what there is" })),
  serviceExecutionId: Type.Optional(
    Type.String({ maxLength: 64, description: "Only those that this execution of a service has started" }),
  ),
  backendId: Type.Optional(
    Type.String({ maxLength: SEARCH_LIMITS.backend, description: "Only those of this backend" }),
  ),
  status: Type.Optional(StringEnum(JOB_STATES, { description: "Only those in this state" })),
  tag: Type.Optional(
    Type.Array(Type.String({ maxLength: JOB_TEXTS.tag }), {
      maxItems: JOB_TEXTS.tags,
      description: "Only those with this tag; several times: with all of them",
    }),
  ),
  sessionId: Type.Optional(Type.String({ maxLength: 36, description: "Only those of this session" })),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: JOB_TEXTS.name,
      description: "Only those with this text in their name, in small or capital letters",
    }),
  ),
  createdAfter: Type.Optional(Timestamp("Only those that were created then or later")),
  createdBefore: Type.Optional(Timestamp("Only those that were created before")),
});

const LogQuery = Type.Object({ cursor: PageQuery.properties.cursor });

const JobHeaders = Type.Object({
  ...PreferHeaders.properties,
  "idempotency-key": StartHeaders.properties["idempotency-key"],
});

/** Operations on quantum jobs: executions of backends. */
export const QUANTUM_JOBS_API = {
  createQuantumJob: {
    ...WRITES,
    allows: "run",
    rate: "start",
    bodyMode: "raw",
    audit: "job.start",
    path: "/jobs",
    forExecutions: true,
    summary: "Start a quantum job",
    description:
      "Checks what can be known without reading the circuits: that the backend is there and supports the format, shots and number of circuits. A 201 means that it is durable. With an `Idempotency-Key`, it starts once. MAX_COST_EXCEEDED: it may cost more than `max_cost`, so nothing has run. QUOTA_EXCEEDED: it may cost more than what is left of the organisation's budget. CONFLICT: its session takes no jobs.",
    headers: JobHeaders,
    body: JobRequestSchema,
    responses: {
      201: { description: "The job", schema: JobSchema, headers: { Location: "Path of the job" } },
    },
    problems: [
      "BACKEND_NOT_FOUND",
      "IDEMPOTENCY_CONFLICT",
      "MAX_COST_EXCEEDED",
      "CONFLICT",
      "VERSION_RETIRED",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  listQuantumJobs: {
    ...READS,
    path: "/jobs",
    forExecutions: true,
    summary: "List the quantum jobs of the organisation",
    description: "Newest first.",
    query: JobsQuery,
    responses: { 200: { description: "One page", schema: JobsPageSchema } },
    problems: ["RATE_LIMITED"],
  },
  getQuantumJob: {
    ...READS,
    ...OF_ONE_JOB,
    rate: "poll",
    path: "/jobs/{id}",
    forExecutions: true,
    summary: "Get a quantum job",
    description: "With `Prefer: wait=SECONDS`, answers when it has ended, or after this time.",
    headers: PreferHeaders,
    responses: { 200: { description: "The job", schema: JobSchema } },
  },
  getQuantumJobStatus: {
    ...READS,
    ...OF_ONE_JOB,
    rate: "poll",
    path: "/jobs/{id}/status",
    forExecutions: true,
    summary: "Get the state of a quantum job",
    description: "As `getQuantumJob`, without anything else.",
    headers: PreferHeaders,
    responses: { 200: { description: "The state", schema: JobStatusSchema } },
  },
  getQuantumJobResult: {
    ...READS,
    ...OF_ONE_JOB,
    problems: [...OF_ONE_JOB.problems, "RESULT_NOT_READY"],
    answerMode: "bytes",
    path: "/jobs/{id}/result",
    forExecutions: true,
    summary: "Get the result of a quantum job, or why there is none",
    description:
      "Of a completed job what the backend has returned, byte by byte; of one that has not completed `code` and `detail`. Of a dry run an estimate: `valid`, `warnings`, `seconds` (null: the backend does not say), `cost` (null where only `seconds` would tell), `most_cost` (with all of its time limit), `currency`, `queue_position`. RESULT_NOT_READY: it has not ended.",
    responses: {
      200: {
        description: "The result",
        schema: Type.Union([JsonObject("What the backend has returned"), Type.Array(Type.Unknown())], {
          description: "An object, or a list as some backends return it for several circuits",
        }),
      },
    },
  },
  getQuantumJobLog: {
    ...READS,
    ...OF_ONE_JOB,
    problems: [...OF_ONE_JOB.problems, "LOG_EXPIRED"],
    answerMode: "bytes",
    path: "/jobs/{id}/log",
    forExecutions: true,
    summary: "Get the log lines of a quantum job, oldest first",
    description: "About 1 MB a page; the header Link has the next one.",
    query: LogQuery,
    responses: {
      200: {
        description: "One page",
        schema: Type.Array(LogEntrySchema, { description: "Lines, oldest first" }),
        headers: { Link: "The next page, where there is one" },
      },
    },
  },
  getQuantumJobInput: {
    ...READS,
    ...OF_ONE_JOB,
    problems: [...OF_ONE_JOB.problems, "INPUT_EXPIRED"],
    answerMode: "bytes",
    path: "/jobs/{id}/input",
    forExecutions: true,
    summary: "Get the input of a quantum job",
    description: "As it was sent.",
    responses: {
      200: { description: "The input", schema: Type.Unsafe<unknown>({ description: "As sent" }) },
    },
  },
  cancelQuantumJob: {
    ...REMOVES,
    ...OF_ONE_JOB,
    allows: "run",
    audit: "job.cancel",
    path: "/jobs/{id}",
    forExecutions: true,
    summary: "Cancel a quantum job",
    description:
      "One that waits ends at once, one that runs within seconds. Nothing happens to one that has ended.",
    responses: { 204: { description: "It ends, or has ended" } },
  },
} as const satisfies OperationTable;
