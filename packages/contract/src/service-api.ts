import { Type } from "typebox";
import {
  ExecutionStatusSchema,
  LogEntrySchema,
  ResultSchema,
  StartBodySchema,
  StatusRecordSchema,
} from "./execution.ts";
import type { OperationTable } from "./operation.ts";
import { Timestamp } from "./schemas.ts";

const IdParams = Type.Object({
  id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
});

/** The longest that `Prefer: wait=N` holds a request, in seconds. */
export const MAX_WAIT_SECONDS = 60;

const PreferHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description: `wait=N holds the answer until the execution is finished or N seconds have passed, at most ${MAX_WAIT_SECONDS} (RFC 7240)`,
      examples: ["wait=10"],
    }),
  ),
});

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 25;

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_PAGE_SIZE,
      description: "Items a page",
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "Where to read on, as the page before says" })),
};

/** What every operation on executions may be refused with. */
const SUBSCRIBED = ["UNAUTHENTICATED", "NOT_SUBSCRIBED", "SERVICE_NOT_FOUND"] as const;

/** The operations of every live version, relative to its endpoint URL. The local server has the same. */
export const SERVICE_API = {
  startExecution: {
    method: "POST",
    path: "/",
    allows: "caller",
    scope: "subscription",
    audit: "execution.start",
    rate: "start",
    bodyMode: "raw",
    answerMode: "bytes",
    summary: "Start an execution",
    description: "Creates a new execution on every call. A 201 means that it is durable.",
    headers: PreferHeaders,
    body: StartBodySchema,
    responses: {
      201: {
        description: "The execution is durable",
        schema: StatusRecordSchema,
        headers: { Location: "URL of the execution" },
      },
    },
    problems: [...SUBSCRIBED, "VERSION_RETIRED", "DATA_REFERENCE_INVALID", "RATE_LIMITED"],
  },
  listExecutions: {
    method: "GET",
    path: "/",
    allows: "caller",
    scope: "subscription",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "bytes",
    summary: "List executions, newest first",
    description: "The Link header (RFC 8288) carries the next page.",
    query: Type.Object({
      ...PageQuery,
      status: Type.Optional(ExecutionStatusSchema),
      createdAfter: Type.Optional(Timestamp("Only executions that were created then or later")),
      createdBefore: Type.Optional(Timestamp("Only executions that were created earlier")),
    }),
    responses: {
      200: {
        description: "One page",
        schema: Type.Array(StatusRecordSchema),
        headers: { Link: "Where to read on; missing on the last page" },
      },
    },
    problems: SUBSCRIBED,
  },
  getState: {
    method: "GET",
    path: "/{id}",
    allows: "caller",
    scope: "subscription",
    audit: null,
    rate: "poll",
    bodyMode: "none",
    answerMode: "bytes",
    summary: "Get the state of an execution",
    description:
      "With `Prefer: wait=N` the answer is held until the execution is finished, at most N seconds.",
    params: IdParams,
    headers: Type.Object({
      ...PreferHeaders.properties,
      "if-none-match": Type.Optional(Type.String({ description: "ETag of the state that is known already" })),
    }),
    responses: {
      200: {
        description: "Status record",
        schema: StatusRecordSchema,
        headers: { ETag: "Changes with the state" },
      },
      304: { description: "Not changed since the ETag in If-None-Match" },
    },
    problems: [...SUBSCRIBED, "EXECUTION_NOT_FOUND", "RESULT_EXPIRED"],
  },
  getResult: {
    method: "GET",
    path: "/{id}/result",
    allows: "caller",
    scope: "subscription",
    audit: null,
    rate: "poll",
    bodyMode: "none",
    answerMode: "bytes",
    summary: "Get the result of an execution, or why there is none",
    description: "200 for FAILED and UNKNOWN as well: the body then carries code and detail.",
    params: IdParams,
    headers: PreferHeaders,
    responses: { 200: { description: "Result, or cause of failure", schema: ResultSchema } },
    problems: [...SUBSCRIBED, "EXECUTION_NOT_FOUND", "RESULT_NOT_READY", "RESULT_EXPIRED"],
  },
  getLog: {
    method: "GET",
    path: "/{id}/log",
    allows: "caller",
    scope: "subscription",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "bytes",
    summary: "Get the log lines of an execution, oldest first",
    description:
      "The log of a finished execution comes whole. While it is not finished, and for any request with a cursor, the answer has about 1 MB and the Link header (RFC 8288) says where to read on; it is missing once the execution is finished and its last line was read.",
    params: IdParams,
    query: Type.Object({ cursor: PageQuery.cursor }),
    responses: {
      200: {
        description: "Log lines",
        schema: Type.Array(LogEntrySchema),
        headers: { Link: "Where to read on" },
      },
    },
    problems: [...SUBSCRIBED, "EXECUTION_NOT_FOUND", "RESULT_EXPIRED"],
  },
  cancelExecution: {
    method: "PUT",
    path: "/{id}/cancel",
    allows: "caller",
    scope: "subscription",
    audit: "execution.cancel",
    rate: "write",
    bodyMode: "none",
    answerMode: "bytes",
    summary: "Cancel an execution",
    description:
      "A pending execution ends at once; the processes of a running one are ended. A finished one stays as it is.",
    params: IdParams,
    responses: { 200: { description: "Status record", schema: StatusRecordSchema } },
    problems: [...SUBSCRIBED, "EXECUTION_NOT_FOUND", "RESULT_EXPIRED"],
  },
} as const satisfies OperationTable;

export type ServiceOperationId = keyof typeof SERVICE_API;
