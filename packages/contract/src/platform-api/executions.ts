import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema, LogEntrySchema, ResultSchema, StartBodySchema } from "../execution.ts";
import { MOST_LAST_LINES } from "../limits.ts";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { AttemptSchema, MAX_ATTEMPTS } from "../retries.ts";
import { ResourcesSchema } from "../project.ts";
import { MOST_RAN_MS, SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp } from "../schemas.ts";
import { ServiceKey, VersionNumber } from "./common.ts";

/** How an execution concerns the organisation that asks. */
const EXECUTION_KINDS = {
  job: "started by a member, without application and subscription",
  outgoing: "started by an application of the organisation",
  incoming: "started by an application of another organisation, of a service of this one",
} as const satisfies Record<string, string>;
/** One of them. */
export type ExecutionKind = keyof typeof EXECUTION_KINDS;
/** All of them. */
export const EXECUTION_KIND_NAMES = Object.keys(EXECUTION_KINDS) as readonly ExecutionKind[];

const Uuid = (description: string) =>
  Type.String({
    pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    description,
  });

/** Which executions are wanted: parameters of lists and counts, and the filter of a bulk cancellation. */
export const ExecutionFilter = {
  kind: Type.Optional(
    StringEnum(EXECUTION_KIND_NAMES, {
      description:
        "job: started by members. outgoing: started by applications of the organisation. incoming: of its services, started by applications, also its own. Default: all",
    }),
  ),
  status: Type.Optional(
    Type.Array(ExecutionStatusSchema, {
      minItems: 1,
      maxItems: 5,
      description: "Only executions in one of these states; may be given several times",
    }),
  ),
  serviceKey: Type.Optional(Uuid("Only executions of this service")),
  version: Type.Optional(
    Type.String({
      pattern: "^(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})$",
      description: "Only executions of versions with this number, MAJOR.MINOR.PATCH",
    }),
  ),
  applicationId: Type.Optional(Uuid("Only executions that this application has started")),
  code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SEARCH_LIMITS.execution,
      description: "Only executions that did not succeed for this reason",
      examples: ["TIMEOUT"],
    }),
  ),
  createdAfter: Type.Optional(Timestamp("Only executions that were created then or later")),
  createdBefore: Type.Optional(Timestamp("Only executions that were created earlier")),
  minRanMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MOST_RAN_MS,
      description: "Only executions that have run for this many milliseconds or longer",
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SEARCH_LIMITS.execution,
      description:
        "Only executions whose identifier begins so, or with this in the name of their service or application or in their code; capital letters do not matter",
    }),
  ),
} as const;

const ApplicationSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the application" }),
    name: Type.Optional(
      Type.String({
        description: "Its name; of another organisation only for those who may list the subscribers",
      }),
    ),
    organizationName: Type.Optional(
      Type.String({ description: "Of an incoming execution: name of its organisation, likewise" }),
    ),
  },
  { title: "ExecutionApplication", description: "The application that has started an execution" },
);

const Milliseconds = (description: string) => Type.Integer({ minimum: 0, description });

const SUMMARY = {
  id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
  kind: StringEnum(EXECUTION_KIND_NAMES, {
    title: "ExecutionKind",
    description: Object.entries(EXECUTION_KINDS)
      .map(([kind, meaning]) => `${kind}: ${meaning}`)
      .join(". "),
  }),
  status: ExecutionStatusSchema,
  terminal: Type.Boolean({ description: "Whether the state is final" }),
  service: Type.Object(
    { key: ServiceKey, name: Type.String({ description: "Name of the service" }) },
    { title: "ExecutionService", description: "The service that is executed" },
  ),
  version: VersionNumber,
  application: Type.Optional(ApplicationSchema),
  subscriptionId: Type.Optional(
    Type.String({ description: "Identifier of the subscription; absent: a job" }),
  ),
  createdAt: Timestamp("When the execution was stored durably"),
  startedAt: Type.Optional(Timestamp("When user code may have begun")),
  endedAt: Type.Optional(Timestamp("When the execution reached its final state")),
  waitedMs: Milliseconds("How long it has waited until it was claimed, has ended, or until now"),
  ranMs: Type.Optional(Milliseconds("How long it has run, until its end or until now; absent: not begun")),
  code: Type.Optional(Type.String({ description: "Why it did not succeed (FAILED, UNKNOWN)" })),
};

const SummarySchema = Type.Object(SUMMARY, {
  title: "ExecutionSummary",
  description: "An execution in a list: no input, no result",
});
/** An execution in a list. */
export type ExecutionSummary = Static<typeof SummarySchema>;

const IsComplete = (what: string) =>
  Type.Boolean({
    description: `false: the platform has looked at as many executions as it does for one request, and there may be more ${what}`,
  });

const PageSchema = Type.Object(
  {
    items: Type.Array(SummarySchema, { description: "The executions of this page, newest first" }),
    nextCursor: Nullable(Type.String(), {
      description: "Pass as `cursor` to read the next page; null on the last page",
    }),
    isComplete: IsComplete("that match: `nextCursor` leads to them, also where this page is empty"),
  },
  { title: "ExecutionSummaryPage", description: "One page of a list" },
);

const Bytes = (description: string) => Type.Integer({ minimum: 0, description });

const DetailsSchema = Type.Object(
  {
    ...SUMMARY,
    detail: Type.Optional(
      Type.String({
        description:
          "Explanation of `code` for people; absent of an incoming execution whose log is not shared, since it may quote the input",
      }),
    ),
    attempt: Type.Optional(
      Type.Integer({ minimum: 0, description: "How often it was claimed; absent: not kept" }),
    ),
    attempts: Type.Optional(
      Type.Array(AttemptSchema, {
        maxItems: MAX_ATTEMPTS,
        description:
          "Its attempts, the first first, where it was started more than once or is about to be; `detail` as that of the execution",
      }),
    ),
    workerId: Type.Optional(
      Type.String({ description: "The worker that has claimed it; for operators of the platform" }),
    ),
    isCancelRequested: Type.Boolean({ description: "Whether it was asked to end while it runs" }),
    resources: ResourcesSchema,
    timeoutSeconds: Type.Integer({ description: "Limit of its run" }),
    cpuMs: Type.Optional(Milliseconds("CPU time that it used, as it was measured")),
    peakMemoryBytes: Type.Optional(Bytes("The most memory that it had, as it was measured")),
    inputBytes: Type.Optional(Bytes("Size of the body that it was started with; absent: not kept any more")),
    resultBytes: Type.Optional(Bytes("Size of its result; absent: there is none")),
    fileCount: Type.Integer({ minimum: 0, description: "Number of files of its result" }),
    areContentsShown: Type.Boolean({
      description: "Whether input, result and files can be read: not of incoming executions",
    }),
    isLogShown: Type.Boolean({ description: "Whether the log can be read" }),
    expiresAt: Type.Optional(Timestamp("Until when state and result of a finished execution can be fetched")),
    logExpiresAt: Type.Optional(Timestamp("Until when the log of a finished execution can be fetched")),
  },
  { title: "ExecutionDetails", description: "An execution, without input and result" },
);
/** An execution, without input and result. */
export type ExecutionDetails = Static<typeof DetailsSchema>;

/** The form of `after`, and of the numbers of log lines. */
const LINE = "^[0-9]{1,18}(-[0-9]{1,7})?$";

const LineSchema = Type.Object(
  {
    seq: Type.String({
      pattern: LINE,
      description: "Number of the line: pass as `after` to go on behind it",
    }),
    ...LogEntrySchema.properties,
  },
  { title: "NumberedLogEntry", description: "One line of a log, with its number" },
);
const LinesSchema = Type.Object(
  {
    items: Type.Array(LineSchema, { description: "Lines, oldest first" }),
    nextSeq: Nullable(Type.String(), {
      description: "Pass as `after` to go on; null: the execution is finished, and this was its last line",
    }),
  },
  { title: "NumberedLog", description: "A part of a log" },
);

const FilesSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "Name of the file" }),
          bytes: Bytes("Its size"),
          href: Type.String({ description: "Where it is downloaded, relative to the origin" }),
        },
        { title: "ResultFile", description: "A file of a result" },
      ),
      { description: "By name; empty unless the execution succeeded" },
    ),
  },
  { title: "ResultFiles", description: "The files of a result" },
);

/** The path parameters of an operation on one execution. */
export const ExecutionParams = Type.Object({
  id: Type.String({ description: "Identifier of the execution" }),
});
/** Problem codes of an operation on one execution. */
const OF_ONE = ["EXECUTION_NOT_FOUND", "RESULT_EXPIRED"] as const;

/** Executions of an organisation, whoever has started them: reading. */
export const EXECUTIONS_API = {
  listExecutions: {
    ...READS,
    path: "/executions",
    summary: "List the executions of the organisation",
    description:
      "Newest first: its jobs, what its applications have started, and what others have started of its services. Never inputs or results. With a filter that no index serves (version, code, minRanMs, q; serviceKey of jobs), a page is of the next 20,000 executions: it may be empty while `nextCursor` leads to more, and `isComplete` is false then.",
    query: Type.Object({ ...PageQuery.properties, ...ExecutionFilter }),
    responses: { 200: { description: "One page", schema: PageSchema } },
    problems: ["RATE_LIMITED"],
  },
  getExecution: {
    ...READS,
    path: "/executions/{id}",
    summary: "Get an execution",
    params: ExecutionParams,
    description:
      "One of the organisation's own or of its services; any other is answered as if it did not exist.",
    responses: { 200: { description: "The execution", schema: DetailsSchema } },
    problems: OF_ONE,
  },
  getExecutionInput: {
    ...READS,
    answerMode: "bytes",
    path: "/executions/{id}/input",
    summary: "Get the input of an execution",
    description: "The body that it was started with, byte by byte. Never of an incoming execution.",
    params: ExecutionParams,
    responses: { 200: { description: "The body of the start", schema: StartBodySchema } },
    problems: [...OF_ONE, "NOT_SHARED", "INPUT_EXPIRED"],
  },
  getExecutionResult: {
    ...READS,
    answerMode: "bytes",
    path: "/executions/{id}/result",
    summary: "Get the result of an execution, or why there is none",
    description:
      "As `GET /jobs/{id}/result`, also of what applications of the organisation have started. Never of an incoming execution.",
    params: ExecutionParams,
    responses: { 200: { description: "Result, or cause of failure", schema: ResultSchema } },
    problems: [...OF_ONE, "NOT_SHARED", "RESULT_NOT_READY", "RANGE_NOT_SATISFIABLE"],
  },
  listResultFiles: {
    ...READS,
    path: "/executions/{id}/files",
    summary: "List the files of a result",
    description: "What the code has left in OUTPUT_DIRECTORY. Never of an incoming execution.",
    params: ExecutionParams,
    responses: { 200: { description: "The files", schema: FilesSchema } },
    problems: [...OF_ONE, "NOT_SHARED", "RESULT_NOT_READY"],
  },
  downloadResultFile: {
    ...READS,
    answerMode: "content",
    path: "/executions/{id}/result/{file}",
    summary: "Download a file of a result",
    description: "All of it or one range. Never of an incoming execution.",
    params: Type.Object({
      ...ExecutionParams.properties,
      file: Type.String({ description: "Name of the file" }),
    }),
    responses: { 200: { description: "The content" } },
    problems: [...OF_ONE, "NOT_SHARED", "RESULT_NOT_READY", "NOT_FOUND"],
  },
  getExecutionLog: {
    ...READS,
    path: "/executions/{id}/log",
    summary: "Get log lines of an execution",
    description:
      "About 1 MB from the first line on, or behind the line `after`, or the last `tail` lines. Of an incoming execution only where its subscription shares logs with the provider.",
    params: ExecutionParams,
    query: Type.Object({
      after: Type.Optional(
        Type.String({ pattern: LINE, description: "Number of the line to go on behind: `seq` or `nextSeq`" }),
      ),
      tail: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MOST_LAST_LINES,
          description: "Only the last lines, this many; without `after`",
        }),
      ),
    }),
    responses: { 200: { description: "Lines", schema: LinesSchema } },
    problems: [...OF_ONE, "LOG_EXPIRED", "NOT_SHARED"],
  },
  locateExecution: {
    ...READS,
    scope: "user",
    allows: "caller",
    path: "/executions/{id}/location",
    summary: "Find out which organisation an execution belongs to",
    description:
      "Over all organisations that the user is a member of; the one whose own it is rather than that of its service.",
    params: ExecutionParams,
    responses: {
      200: {
        description: "The organisation",
        schema: Type.Object(
          {
            organizationId: Type.String({ description: "Identifier of the organisation" }),
            organizationSlug: Type.String({ description: "Its name in addresses" }),
            kind: SUMMARY.kind,
          },
          { title: "ExecutionLocation", description: "Where an execution is found" },
        ),
      },
    },
    problems: ["EXECUTION_NOT_FOUND"],
  },
} as const satisfies OperationTable;
