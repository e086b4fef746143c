import { Type } from "typebox";
import {
  BatchBodySchema,
  BatchRehearsalSchema,
  BatchSchema,
  MAX_BATCH_BYTES,
  MAX_BATCH_ITEMS,
} from "./batch.ts";
import {
  ExecutionStatusSchema,
  LogEntrySchema,
  ProgressSchema,
  ResultSchema,
  StartBodySchema,
  StatusRecordSchema,
} from "./execution.ts";
import { MAX_PAGE_SIZE } from "./limits.ts";
import type { OperationTable } from "./operation.ts";
import { ReceiptSchema } from "./receipt.ts";
import { DRY_RUN, RehearsalSchema } from "./rehearsal.ts";
import { JsonObject, Timestamp } from "./schemas.ts";

const IdParams = Type.Object({
  id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
});

/** Longest delay of a response by `Prefer: wait=N`, in seconds. */
export const MAX_WAIT_SECONDS = 60;

const WAITS = `wait=N delays the response until the execution is finished or N seconds have passed, at most ${MAX_WAIT_SECONDS} (RFC 7240)`;

/** Of an answer that can be delayed. */
export const PreferHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description: WAITS,
      examples: ["wait=10"],
    }),
  ),
});

/** Longest Last-Event-ID that is looked at. */
const MAX_EVENT_ID = 200;

/** Of a stream of events. */
export const LastEventHeaders = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({
      maxLength: MAX_EVENT_ID,
      pattern: "^[\\w.:-]*$",
      description: "The `id` of the last event that was received: the stream continues behind it",
    }),
  ),
});

const IdempotencyHeader = (effect: string) =>
  Type.Optional(
    Type.String({
      pattern: '^([!#-\\[\\]-~]{1,255}|"([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}")$',
      description: `1 to 255 visible ASCII characters, with or without quotation marks. For 24 hours, ${effect}.`,
      examples: ["8e03978e-40d5-43e8-bc93-6894a57f9324"],
    }),
  );

/** Headers of a start. */
export const StartHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description: `${WAITS}. ${DRY_RUN} checks the request as a start would, and starts nothing`,
      examples: ["wait=10"],
    }),
  ),
  "idempotency-key": IdempotencyHeader("starts with the same key are one execution"),
});

const BatchHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: `${DRY_RUN} checks every item as its start would, and starts nothing` }),
  ),
  "idempotency-key": IdempotencyHeader("batches with the same key are one"),
});

const BatchParams = Type.Object({
  batchId: Type.String({ format: "uuid", description: "Identifier of the batch" }),
});

/** `limit` of a list if the request has none. */
export const DEFAULT_PAGE_SIZE = 25;

/** Query parameters of every list. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_PAGE_SIZE,
      description: "Items per page",
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: "Where to continue: the cursor that the previous page returned" }),
  ),
});

/** Of every start. */
export const REHEARSES =
  "With `Prefer: dry-run` nothing is created: the answer is 200 with a `Rehearsal` and `Preference-Applied: dry-run`, or the refusal of a start; with an `Idempotency-Key` that has started an execution, the 201 of that one.";

/** Of every start of a batch. */
const REHEARSES_BATCH =
  "With `Prefer: dry-run` nothing is created: the answer is 200 with a `BatchRehearsal` and `Preference-Applied: dry-run`, or the refusal of the batch; with an `Idempotency-Key` that has started a batch, the 201 of that one.";

/** Problem codes of an operation on one execution. */
const OF_ONE = ["EXECUTION_NOT_FOUND", "RESULT_EXPIRED"] as const;

/** What the operations on executions share. */
const EXECUTIONS = { allows: "caller", scope: "subscription", answerMode: "bytes" } as const;

/** What those of them share that change nothing. */
const READS = { ...EXECUTIONS, method: "GET", audit: null, bodyMode: "none" } as const;

const LIMIT_HEADERS = {
  "RateLimit-Policy": "Limits on starts: number (q) and seconds (w); absent where there are none",
  RateLimit: "For each limit, starts that are left (r), and after how many seconds all are there again (t)",
} as const;

/** Executions that are started together. */
const BATCHES = {
  startBatch: {
    ...EXECUTIONS,
    method: "POST",
    path: "/batch",
    audit: "batch.start",
    rate: "start",
    bodyMode: "batch",
    summary: "Start many executions",
    description: `Up to ${MAX_BATCH_ITEMS} start bodies in one request of at most ${MAX_BATCH_BYTES / 1024 / 1024} MB. Each item is checked, limited and started as if it came alone, and is answered in its place: one that is refused keeps no other from being started. A 201 means that the batch, and each execution that has an id, is durable. With an \`Idempotency-Key\`, a repetition starts nothing twice, and goes on where the first was cut off. ${REHEARSES_BATCH}`,
    headers: BatchHeaders,
    body: BatchBodySchema,
    responses: {
      200: {
        description: "A rehearsal: nothing was created",
        schema: BatchRehearsalSchema,
        preference: DRY_RUN,
        headers: { "Preference-Applied": DRY_RUN },
      },
      201: {
        description: "The batch, with all of its items",
        schema: BatchSchema,
        headers: {
          Location: "URL of the batch",
          "Idempotency-Replayed": "true where an earlier request with the same key has created the batch",
          ...LIMIT_HEADERS,
        },
      },
    },
    problems: [
      "SUBSCRIPTION_ENDED",
      "VERSION_RETIRED",
      "IDEMPOTENCY_CONFLICT",
      "CONFLICT",
      "RESULT_EXPIRED",
      "RATE_LIMITED",
    ],
  },
  getBatch: {
    ...READS,
    path: "/batch/{batchId}",
    rate: "read",
    summary: "Get the progress of a batch",
    description: "Numbers by state, at most a second old, and a page of the items.",
    params: BatchParams,
    query: PageQuery,
    responses: {
      200: {
        description: "The batch",
        schema: BatchSchema,
        headers: {
          Link: "The next page; absent on the last page",
          "Retry-After":
            "After how many seconds it is worth asking again; absent once nothing changes any more",
        },
      },
    },
    problems: ["NOT_FOUND"],
  },
  cancelBatch: {
    ...EXECUTIONS,
    method: "PUT",
    path: "/batch/{batchId}/cancel",
    audit: "batch.cancel",
    rate: "write",
    bodyMode: "none",
    summary: "Cancel a batch",
    description:
      "Cancels all of its executions that have not ended, and starts none of it from then on. What waits ends at once, what runs within seconds. A batch that has ended is not changed. While its start is under way, the answer comes once that has stopped, or after twelve seconds with `complete` false: then repeat the request.",
    params: BatchParams,
    responses: { 200: { description: "The batch", schema: BatchSchema } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;

/** The operations of every live version; paths are relative to its endpoint URL. The local server offers the same operations. */
export const SERVICE_API = {
  startExecution: {
    ...EXECUTIONS,
    method: "POST",
    path: "/",
    audit: "execution.start",
    rate: "start",
    bodyMode: "raw",
    summary: "Start an execution",
    description: `Creates a new execution, except with an \`Idempotency-Key\` that has started one. A 201 means that it is durable. ${REHEARSES}`,
    headers: StartHeaders,
    body: StartBodySchema,
    responses: {
      200: {
        description: "A rehearsal: nothing was created",
        schema: RehearsalSchema,
        preference: DRY_RUN,
        headers: { "Preference-Applied": DRY_RUN },
      },
      201: {
        description: "The execution is durable",
        schema: StatusRecordSchema,
        headers: {
          Location: "URL of the execution",
          "Idempotency-Replayed": "true where an earlier request with the same key has created the execution",
          ...LIMIT_HEADERS,
          "X-Quota-Limit":
            "Executions, or CPU-seconds, of each month; as the following ones only where the plan has a cap",
          "X-Quota-Remaining": "What is left of them this month",
          "X-Quota-Reset": "When the month ends",
        },
      },
    },
    problems: [
      "SUBSCRIPTION_ENDED",
      "VERSION_RETIRED",
      "DATA_REFERENCE_INVALID",
      "IDEMPOTENCY_CONFLICT",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  listExecutions: {
    ...READS,
    path: "/",
    rate: "read",
    summary: "List executions, newest first",
    description: "The Link header (RFC 8288) carries the next page.",
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(ExecutionStatusSchema),
      createdAfter: Type.Optional(Timestamp("Only executions that were created then or later")),
      createdBefore: Type.Optional(Timestamp("Only executions that were created earlier")),
    }),
    responses: {
      200: {
        description: "One page",
        schema: Type.Array(StatusRecordSchema),
        headers: { Link: "The next page; absent on the last page" },
      },
    },
  },
  getState: {
    ...READS,
    path: "/{id}",
    rate: "poll",
    summary: "Get the state of an execution",
    description:
      "With `Prefer: wait=N` the response is delayed until the execution is finished, at most N seconds.",
    params: IdParams,
    headers: Type.Object({
      ...PreferHeaders.properties,
      "if-none-match": Type.Optional(
        Type.String({ description: "ETag of the state that the client already has" }),
      ),
    }),
    responses: {
      200: {
        description: "Status record",
        schema: StatusRecordSchema,
        headers: {
          ETag: "Changes with the state",
          "Retry-After": "After how many seconds it is worth asking again; absent once the state is final",
        },
      },
      304: { description: "Not changed since the ETag in If-None-Match" },
    },
    problems: OF_ONE,
  },
  getResult: {
    ...READS,
    path: "/{id}/result",
    rate: "poll",
    summary: "Get the result of an execution, or why there is none",
    description:
      "The status is 200 for FAILED and UNKNOWN as well; the body then has code and detail. A result above 1 MB comes with Content-Length and ETag, and in ranges.",
    params: IdParams,
    headers: PreferHeaders,
    responses: { 200: { description: "Result, or cause of failure", schema: ResultSchema } },
    problems: [...OF_ONE, "RESULT_NOT_READY", "RANGE_NOT_SATISFIABLE"],
  },
  getResultFile: {
    ...READS,
    answerMode: "content",
    path: "/{id}/result/{file}",
    rate: "read",
    summary: "Download a file of a result",
    description:
      "All of it or one range. The result has a link for each file that the code has left in OUTPUT_DIRECTORY.",
    params: Type.Object({
      ...IdParams.properties,
      file: Type.String({ description: "Name of the file, as the links of the result have it" }),
    }),
    responses: { 200: { description: "The content" } },
    problems: [...OF_ONE, "RESULT_NOT_READY", "NOT_FOUND"],
  },
  getReceipt: {
    ...READS,
    path: "/{id}/receipt",
    rate: "read",
    summary: "Get a signed receipt of a finished execution",
    description:
      "A JSON Web Signature over the digests of version, requirements, input and result, the times and the resources used. It can be verified without the platform, and after the execution has expired.",
    params: IdParams,
    responses: { 200: { description: "The receipt", schema: ReceiptSchema } },
    problems: [...OF_ONE, "RESULT_NOT_READY"],
  },
  getLog: {
    ...READS,
    path: "/{id}/log",
    rate: "read",
    summary: "Get the log lines of an execution, oldest first",
    description:
      "The log of a finished execution is returned as a whole. Before that, and in response to any request with a cursor, about 1 MB is returned, and the Link header (RFC 8288) has the URL at which to continue; the header is absent once the execution is finished and its last line has been returned.",
    params: IdParams,
    query: Type.Object({ cursor: PageQuery.properties.cursor }),
    responses: {
      200: {
        description: "Log lines",
        schema: Type.Array(LogEntrySchema),
        headers: { Link: "The URL at which to continue" },
      },
    },
    problems: [...OF_ONE, "LOG_EXPIRED", "FORBIDDEN"],
  },
  streamEvents: {
    ...READS,
    answerMode: "events",
    path: "/{id}/events",
    rate: "read",
    summary: "Follow an execution as server-sent events",
    description:
      "`state`: the status record, first the current one, then each that follows. `progress`: what the run has reported of its progress, as `progress` of the status record. `partial`: a checkpoint that the run has made, with `at` and `bytes`, and up to 32 kB as `result`. `log`: an array of log lines; with its `id` as Last-Event-ID a request continues behind these lines. After the last line comes the final `state`, then `end`, and the stream is closed. `closed` has `code` and `detail`: the platform ends the stream before, such as when it stops or the token has expired. A comment comes after 15 seconds without an event. Who may not read logs gets none.",
    params: IdParams,
    headers: LastEventHeaders,
    responses: { 200: { description: "The events, until the execution has ended" } },
    events: {
      state: { description: "The status record", schema: StatusRecordSchema },
      progress: { description: "What the run has reported", schema: ProgressSchema },
      partial: {
        description: "A checkpoint of the run",
        schema: Type.Object({
          at: Timestamp("When it was stored"),
          bytes: Type.Integer({ description: "Its size" }),
          result: Type.Optional(JsonObject("The checkpoint, up to 32 kB")),
        }),
      },
      log: { description: "Log lines", schema: Type.Array(LogEntrySchema) },
      end: { description: "The execution has ended, and all was sent", schema: Type.Object({}) },
    },
    problems: [...OF_ONE, "LOG_EXPIRED", "RATE_LIMITED"],
  },
  cancelExecution: {
    ...EXECUTIONS,
    method: "PUT",
    path: "/{id}/cancel",
    audit: "execution.cancel",
    rate: "write",
    bodyMode: "none",
    summary: "Cancel an execution",
    description:
      "A pending execution ends at once; the processes of a running one are stopped. A finished one is not changed.",
    params: IdParams,
    responses: { 200: { description: "Status record", schema: StatusRecordSchema } },
    problems: OF_ONE,
  },
  ...BATCHES,
} as const satisfies OperationTable;
