import { Type } from "typebox";
import type { Static } from "typebox";
import { SANDBOX_LEVEL_NAMES, SANDBOX_LEVELS } from "./sandbox.ts";
import { AttemptSchema, MAX_ATTEMPTS } from "./retries.ts";
import { JsonObject, Nullable, StringEnum, Timestamp } from "./schemas.ts";
import { MAX_WEBHOOK_URL } from "./webhook-url.ts";

interface StateRule {
  readonly isFinal: boolean;
  /** The states that may follow directly. */
  readonly moves: readonly string[];
  /** A phrase for documentation, without a period. */
  readonly meaning: string;
}

/** The five states of an execution. A final state never changes. */
export const EXECUTION_STATES = {
  PENDING: { isFinal: false, moves: ["RUNNING", "FAILED"], meaning: "stored durably, not started" },
  RUNNING: {
    isFinal: false,
    moves: ["SUCCEEDED", "FAILED", "UNKNOWN", "PENDING"],
    meaning:
      "user code may have begun; returns to PENDING if the platform could not start user code, or if the attempt failed and its service has chosen retries",
  },
  SUCCEEDED: { isFinal: true, moves: [], meaning: "finished; the result can be fetched" },
  FAILED: {
    isFinal: true,
    moves: [],
    meaning: "did not succeed; code and detail can be fetched as the result",
  },
  UNKNOWN: {
    isFinal: true,
    moves: [],
    meaning: "the worker was lost while user code may have been running; the outcome is unknown",
  },
} as const satisfies Record<string, StateRule>;

/** State of an execution. */
export type ExecutionStatus = keyof typeof EXECUTION_STATES;

/** A state that never changes. */
export type FinalStatus = {
  [S in ExecutionStatus]: (typeof EXECUTION_STATES)[S]["isFinal"] extends true ? S : never;
}[ExecutionStatus];

/** All states, in the order of an execution's life. */
export const EXECUTION_STATUSES = Object.keys(EXECUTION_STATES) as readonly ExecutionStatus[];

/** Whether a text, such as a query parameter, is the name of one of the five states. */
export function isExecutionStatus(value: string): value is ExecutionStatus {
  return Object.hasOwn(EXECUTION_STATES, value);
}

/** Whether an execution in this state has ended and never changes again. */
export function isFinal(status: ExecutionStatus): status is FinalStatus {
  return EXECUTION_STATES[status].isFinal;
}

/** Whether an execution may go from one state to the other in one step. */
export function canMove(from: ExecutionStatus, to: ExecutionStatus): boolean {
  const moves: readonly string[] = EXECUTION_STATES[from].moves;
  return moves.includes(to);
}

/**
 * Formats a time as on the wire: `YYYY-MM-DD HH:MM:SS` in UTC.
 *
 * @param time milliseconds since the Unix epoch
 */
export function formatTimestamp(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

/** The five states as an enumeration; its description explains each for the OpenAPI documents. */
export const ExecutionStatusSchema = StringEnum(EXECUTION_STATUSES, {
  title: "ExecutionStatus",
  description: EXECUTION_STATUSES.map((status) => `${status}: ${EXECUTION_STATES[status].meaning}`).join(
    ". ",
  ),
});

/** Why the code of an execution has not begun. More reasons may be added: clients must accept unknown ones. */
export const WAITING_REASONS = {
  QUEUE: "it waits for its turn, or for free capacity",
  START_AT: "its start has asked for a later time",
  SERVICE_LIMIT: "as many executions of the service run as its policy allows",
  SUBSCRIPTION_LIMIT:
    "as many executions of the subscription (of a job: of the organisation) run as the policy of the service allows",
  NO_WORKER: "no worker is running",
  NO_LARGE_WORKER: "no running worker has the vCPUs and memory that the version requires",
  SETBACK: "the platform could not start it, and tries again after a pause",
  RETRY: "an attempt failed, and the next one follows after a pause, as its service has chosen",
  PREPARING: "its worker builds the environment of its version, or fetches its input",
} as const satisfies Record<string, string>;

/** What an execution waits for, and for about how long. */
export const WaitingSchema = Type.Object(
  {
    reason: Type.String({
      description: Object.entries(WAITING_REASONS)
        .map(([reason, meaning]) => `${reason}: ${meaning}`)
        .join("; "),
    }),
    position: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "About how many executions, of all callers, are before it in the queue; if known",
      }),
    ),
    startAt: Type.Optional(
      Timestamp("When it begins to wait for its turn, as its start has asked; only with START_AT"),
    ),
    estimateSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "After about how many seconds it starts; if that can be told",
      }),
    ),
  },
  { title: "Waiting", description: "What an execution waits for, as of a few seconds ago" },
);

/** What an execution waits for, and for about how long. */
export type Waiting = Static<typeof WaitingSchema>;

/** What the code of an execution has reported of itself. */
export const ProgressSchema = Type.Object(
  {
    fraction: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: "How much of the work is done; absent if not reported",
      }),
    ),
    message: Type.Optional(
      Type.String({ description: "What is being done; empty if the code does not say" }),
    ),
    at: Timestamp("When the last report or checkpoint was stored"),
    checkpointAt: Type.Optional(
      Timestamp(
        "When the last checkpoint was stored: what an execution that does not succeed returns of its result",
      ),
    ),
  },
  {
    title: "Progress",
    description:
      "The newest that the code has reported, about once a second; absent: it has reported nothing",
  },
);

/** Response of start and of `GET {base}/{id}`. With `terminal`, clients need no list of final states. */
export const StatusRecordSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
    status: ExecutionStatusSchema,
    createdAt: Timestamp("When the execution was stored durably"),
    startBy: Type.Optional(
      Timestamp(
        "While PENDING: the deadline of its start. If it has not begun by then, it ends FAILED with START_DEADLINE_EXCEEDED; absent: there is none, or it has begun before",
      ),
    ),
    startedAt: Type.Optional(
      Timestamp(
        "When user code may have begun; of several attempts, that of the last, while it is not PENDING",
      ),
    ),
    endedAt: Type.Optional(Timestamp("When the execution reached its final state")),
    attempts: Type.Optional(
      Type.Array(AttemptSchema, {
        maxItems: MAX_ATTEMPTS,
        description:
          "Its attempts, the first first, where it was started more than once or is about to be; what is not PENDING ends with the last one",
      }),
    ),
    sandboxLevel: Type.Optional(
      StringEnum(SANDBOX_LEVEL_NAMES, {
        description: `How well the worker isolates the execution. ${SANDBOX_LEVEL_NAMES.map(
          (level) => `${level}: ${SANDBOX_LEVELS[level].gives}`,
        ).join(" ")}`,
      }),
    ),
    expiresAt: Type.Optional(Timestamp("Until when state and result of a finished execution can be fetched")),
    logExpiresAt: Type.Optional(Timestamp("Until when the log of a finished execution can be fetched")),
    waiting: Type.Optional(WaitingSchema),
    lease: Type.Optional(
      Type.Object(
        { until: Timestamp("Until when the worker holds it; it is renewed while the worker lives") },
        {
          title: "Lease",
          description: "While RUNNING: a worker that is gone is noticed when its lease ends, at the latest",
        },
      ),
    ),
    progress: Type.Optional(ProgressSchema),
    terminal: Type.Boolean({ description: "Whether the state is final" }),
  },
  { title: "Execution", description: "The state of an execution" },
);

/** State and times of an execution as on the wire. */
export type StatusRecord = Static<typeof StatusRecordSchema>;

/** For how many days after its end a service keeps an execution; null: for as many as the platform keeps others. */
export interface KeptDays {
  /** State, result and log. */
  readonly result: number | null;
  /** The log, at most for as long as the result. */
  readonly log: number | null;
}

/** Reference to a file of a data pool. */
export const FileReferenceSchema = Type.Object(
  {
    dataPoolId: Type.String({ format: "uuid", description: "Identifier of the data pool" }),
    dataSourceDescriptorId: Type.String({ format: "uuid", description: "Identifier of the data source" }),
    fileId: Type.String({ format: "uuid", description: "Identifier of the file" }),
    pointer: Type.Optional(
      Type.String({
        maxLength: 1_000,
        pattern: "^(/([^/~]|~[01])*){0,64}$",
        description:
          "JSON Pointer (RFC 6901) of the object in the file that is the input; default: the whole file",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "FileReference",
    description: "A JSON file of a data pool, identified by three ids, or a part of it",
  },
);

/** Reference to a JSON file of a data pool, or a part of it: three UUIDs, and a pointer. */
export type FileReference = Static<typeof FileReferenceSchema>;

/** Where the result of an execution is stored besides. */
export const PersistTargetSchema = Type.Object(
  {
    dataPoolId: Type.String({ format: "uuid", description: "Identifier of the data pool" }),
    name: Type.Optional(
      Type.String({
        description:
          "Name of the file; it takes the place of one that has it. Default: the identifier of the execution, and .json",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "PersistTarget",
    description: "A data pool that gets the result as a file when the execution has succeeded",
  },
);

/** Where the result of an execution is stored besides. */
export type PersistTarget = Static<typeof PersistTargetSchema>;

/** What `startWithin` of a start may be, in seconds. */
export const START_WITHIN_SECONDS = { minimum: 1, maximum: 7 * 24 * 60 * 60 } as const;

/** The body of start: `data` or `dataRef`, and `params` or `paramsRef`. An absent part means `{}`. */
export const StartBodySchema = Type.Object(
  {
    data: Type.Optional(JsonObject("Input data by value, at most 1 MB of JSON text")),
    dataRef: Type.Optional(FileReferenceSchema),
    params: Type.Optional(JsonObject("Parameters by value, at most 1 MB of JSON text")),
    paramsRef: Type.Optional(FileReferenceSchema),
    persistTo: Type.Optional(PersistTargetSchema),
    startAt: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          "Not to begin before this time, at most 7 days ahead: ISO 8601 with a zone, or YYYY-MM-DD HH:MM:SS in UTC; absent, or in the past: at once",
        examples: ["2026-11-24T18:00:00+01:00"],
      }),
    ),
    webhookUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_WEBHOOK_URL,
        description:
          "Told what becomes of this execution, signed with the secret of the application's webhook of starts: a URL of https or http without credentials",
        examples: ["https://example.org/hook"],
      }),
    ),
    startWithin: Type.Optional(
      Type.Integer({
        ...START_WITHIN_SECONDS,
        description:
          "It ends FAILED with START_DEADLINE_EXCEEDED, and never runs, if it has not begun so many seconds after it was created, or after `startAt`; absent: as the policy of the service says",
      }),
    ),
  },
  {
    additionalProperties: false,
    // Code generators ignore `dependentSchemas`; from `not` and `oneOf` they generate extra types.
    dependentSchemas: {
      data: { properties: { dataRef: false } },
      params: { properties: { paramsRef: false } },
    },
    title: "StartRequest",
    description:
      "Input of an execution: each part by value or by reference, not both; an absent part means {}. And where the result is stored besides, when it is to begin, at the earliest and at the latest, and who is told of it",
  },
);

/** Limit of nested objects and arrays in `data` and `params`. Deeper JSON would exhaust the stack of Python's parser. */
export const MAX_INPUT_DEPTH = 200;

/** A link to a related resource. */
export const LinkSchema = Type.Object(
  { href: Type.String({ description: "URL, absolute or relative to the origin" }) },
  { title: "Link", description: "Link to a related resource" },
);

/** Response of the result operation, for executions that succeeded and for those that did not. */
export const ResultSchema = Type.Object(
  {
    result: Type.Optional(
      JsonObject(
        "Output of the service (SUCCEEDED); with `partial`, the last checkpoint of one that did not succeed",
      ),
    ),
    partial: Type.Optional(
      Type.Boolean({
        description:
          "true: the execution did not succeed, and `result` is what its code had kept by `checkpoint`",
      }),
    ),
    metadata: Type.Optional(
      Nullable(
        JsonObject(
          "Additional information; `_usage`: what the execution used as the platform measured it, also when it failed (`cpuSeconds`, `peakMemoryBytes`), if that is known; `_inputs`: which content it read by reference (`fileId`, `sha256`, `bytes`), and of `pools` by their place in the input (`dataPoolId`, `files`, `bytes`, `sha256`); `_persisted`: where its result was stored as `persistTo` says (`reference`, `name`), or why it was not (`code`, `detail`), and of `pools` the same of the files of its output pool, by its place in the input (`dataPoolId`, `files`); `_omittedFiles`: what in OUTPUT_DIRECTORY or the output pool is none of the files, and why (`name`, `reason`)",
        ),
      ),
    ),
    code: Type.Optional(Type.String({ description: "Why it did not succeed (FAILED, UNKNOWN)" })),
    detail: Type.Optional(Type.String({ description: "Explanation of `code` for people" })),
    _links: Type.Object(
      { self: LinkSchema, status: LinkSchema },
      {
        additionalProperties: LinkSchema,
        title: "ResultLinks",
        description: "The result itself, the state, and each file of the result by its name",
      },
    ),
    _embedded: Type.Object(
      { status: StatusRecordSchema },
      { title: "ResultEmbedded", description: "The state with which the execution ended" },
    ),
  },
  {
    title: "Result",
    description:
      "`result` of an execution that succeeded, `code` and `detail` of one that did not, with its last checkpoint where it has made one; `metadata` of both",
  },
);

/** The parsed response of the result operation. */
export type ExecutionResult = Static<typeof ResultSchema>;

/** Severities of log lines, ascending: the levels of Python's `logging`. */
const LOG_SEVERITIES = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

/** One line of an execution's log. */
export const LogEntrySchema = Type.Object(
  {
    timestamp: Timestamp("When the line was received"),
    severity: StringEnum(LOG_SEVERITIES, { title: "LogSeverity", description: "Severity of the line" }),
    message: Type.String({ description: "The line, without its line break" }),
  },
  { title: "LogEntry", description: "One line of a log" },
);

/** One line of an execution's log as on the wire. */
export type LogEntry = Static<typeof LogEntrySchema>;
