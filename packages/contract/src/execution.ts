import { Type } from "typebox";
import type { Static } from "typebox";
import { JsonObject, Nullable, StringEnum, Timestamp } from "./schemas.ts";

interface StateRule {
  readonly isFinal: boolean;
  readonly moves: readonly string[];
  readonly meaning: string;
}

/** The five states, what each means and where it may go. Final states never change. */
export const EXECUTION_STATES = {
  PENDING: { isFinal: false, moves: ["RUNNING", "FAILED"], meaning: "durable, not started" },
  RUNNING: {
    isFinal: false,
    moves: ["SUCCEEDED", "FAILED", "UNKNOWN", "PENDING"],
    meaning:
      "user code may have begun; PENDING again only where the platform could not start it, so that it surely has not",
  },
  SUCCEEDED: { isFinal: true, moves: [], meaning: "finished; the result can be fetched" },
  FAILED: { isFinal: true, moves: [], meaning: "known not to have succeeded; the cause can be fetched" },
  UNKNOWN: {
    isFinal: true,
    moves: [],
    meaning: "user code had begun and its worker vanished; nobody can say",
  },
} as const satisfies Record<string, StateRule>;

export type ExecutionStatus = keyof typeof EXECUTION_STATES;

export type FinalStatus = {
  [S in ExecutionStatus]: (typeof EXECUTION_STATES)[S]["isFinal"] extends true ? S : never;
}[ExecutionStatus];

export const EXECUTION_STATUSES = Object.keys(EXECUTION_STATES) as readonly ExecutionStatus[];

export function isExecutionStatus(value: string): value is ExecutionStatus {
  return Object.hasOwn(EXECUTION_STATES, value);
}

export function isFinal(status: ExecutionStatus): status is FinalStatus {
  return EXECUTION_STATES[status].isFinal;
}

export function canMove(from: ExecutionStatus, to: ExecutionStatus): boolean {
  const moves: readonly string[] = EXECUTION_STATES[from].moves;
  return moves.includes(to);
}

/** `YYYY-MM-DD HH:MM:SS` in UTC, the one form of timestamps on the wire; `time` in milliseconds since the epoch. */
export function formatTimestamp(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

export const ExecutionStatusSchema = StringEnum(EXECUTION_STATUSES, {
  title: "ExecutionStatus",
  description: EXECUTION_STATUSES.map((status) => `${status}: ${EXECUTION_STATES[status].meaning}`).join(
    ". ",
  ),
});

/** Why an execution waits though it has its turn. New reasons may be added. */
export const PENDING_REASONS = {
  NO_WORKER: "no worker is running",
  NO_LARGE_WORKER: "no worker that is running has the vCPUs and the memory that the version asks for",
} as const satisfies Record<string, string>;

export type PendingReason = keyof typeof PENDING_REASONS;

/** What start answers and `GET {base}/{id}` shows; `terminal` spares clients a list of final states. */
export const StatusRecordSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
    status: ExecutionStatusSchema,
    createdAt: Timestamp("When the execution became durable"),
    startedAt: Type.Optional(Timestamp("When user code may have begun")),
    endedAt: Type.Optional(Timestamp("When the execution reached its final state")),
    expiresAt: Type.Optional(Timestamp("Until when state, result and log can be fetched, once final")),
    pendingReason: Type.Optional(
      Type.String({
        description: `While PENDING, where no worker can start it at present: ${Object.entries(
          PENDING_REASONS,
        )
          .map(([reason, meaning]) => `${reason} (${meaning})`)
          .join("; ")}. Missing: it waits for its turn or for room`,
      }),
    ),
    terminal: Type.Boolean({ description: "Whether the state is final" }),
  },
  { title: "Execution", description: "The state of an execution" },
);

export type StatusRecord = Static<typeof StatusRecordSchema>;

/** A file of a data pool, pinned by three ids. */
export const FileReferenceSchema = Type.Object(
  {
    dataPoolId: Type.String({ format: "uuid", description: "Identifier of the data pool" }),
    dataSourceDescriptorId: Type.String({ format: "uuid", description: "Identifier of the data source" }),
    fileId: Type.String({ format: "uuid", description: "Identifier of the file" }),
  },
  {
    additionalProperties: false,
    title: "FileReference",
    description: "A JSON file of a data pool, pinned by three ids",
  },
);

export type FileReference = Static<typeof FileReferenceSchema>;

/** The body of start: `data` xor `dataRef`, `params` xor `paramsRef`; each may be missing, which means `{}`. */
export const StartBodySchema = Type.Object(
  {
    data: Type.Optional(JsonObject("Input data by value, at most 1 MB of JSON text")),
    dataRef: Type.Optional(FileReferenceSchema),
    params: Type.Optional(JsonObject("Parameters by value, at most 1 MB of JSON text")),
    paramsRef: Type.Optional(FileReferenceSchema),
  },
  {
    additionalProperties: false,
    // A keyword that code generators leave out: of `not` and `oneOf` they make types of their own.
    dependentSchemas: {
      data: { properties: { dataRef: false } },
      params: { properties: { paramsRef: false } },
    },
    title: "StartRequest",
    description: "Input of an execution: each part by value or by reference, not both; a missing part is {}",
  },
);

export type StartBody = Static<typeof StartBodySchema>;

/** `data` or `params` by value: at most so many bytes of JSON text. */
export const MAX_INPUT_BYTES = 1_048_576;

/** Deeper JSON is refused at the door: Python's parser would run out of stack. */
export const MAX_INPUT_DEPTH = 200;

export const LinkSchema = Type.Object(
  { href: Type.String({ description: "URL, absolute or relative to the origin" }) },
  { title: "Link", description: "Where a related resource is" },
);

export const ResultSchema = Type.Object(
  {
    result: Type.Optional(JsonObject("Output of the service (SUCCEEDED)")),
    metadata: Type.Optional(Nullable(JsonObject("Additional information"))),
    code: Type.Optional(Type.String({ description: "Why it did not succeed (FAILED, UNKNOWN)" })),
    detail: Type.Optional(Type.String({ description: "The same for people" })),
    _links: Type.Object(
      { self: LinkSchema, status: LinkSchema },
      { title: "ResultLinks", description: "The result itself, and the state" },
    ),
    _embedded: Type.Object(
      { status: StatusRecordSchema },
      { title: "ResultEmbedded", description: "The state with which the execution ended" },
    ),
  },
  {
    title: "Result",
    description:
      "`result` and `metadata` of an execution that succeeded, `code` and `detail` of one that did not",
  },
);

export type ExecutionResult = Static<typeof ResultSchema>;

export const LOG_SEVERITIES = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

export const LogEntrySchema = Type.Object(
  {
    timestamp: Timestamp("When the line was received"),
    severity: StringEnum(LOG_SEVERITIES, { title: "LogSeverity", description: "Severity of the line" }),
    message: Type.String({ description: "The line, without its end" }),
  },
  { title: "LogEntry", description: "One line of a log" },
);

export type LogEntry = Static<typeof LogEntrySchema>;
