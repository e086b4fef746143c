import { Type } from "typebox";
import {
  ExecutionStatusSchema,
  LogEntrySchema,
  ResultSchema,
  StartBodySchema,
  StatusRecordSchema,
} from "./execution.ts";
import type { OperationTable } from "./operation.ts";

const IdParams = Type.Object({ id: Type.String({ description: "Execution id" }) });

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
    Type.String({
      pattern: "^[0-9]{1,3}$",
      description: `Items a page, 1 to ${MAX_PAGE_SIZE}; default ${DEFAULT_PAGE_SIZE}`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "nextCursor of the page before" })),
};

/** The operations of every live version, relative to its endpoint URL. The local server has the same. */
export const SERVICE_API = {
  startExecution: {
    method: "POST",
    path: "/",
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
    problems: [
      "INVALID_JSON",
      "INVALID_INPUT",
      "UNAUTHENTICATED",
      "NOT_SUBSCRIBED",
      "SERVICE_NOT_FOUND",
      "NOT_ACCEPTABLE",
      "VERSION_RETIRED",
      "INPUT_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "DATA_REFERENCE_INVALID",
      "RATE_LIMITED",
      "UNAVAILABLE",
    ],
  },
  listExecutions: {
    method: "GET",
    path: "/",
    summary: "List executions, newest first",
    description: "The Link header (RFC 8288) carries the next page.",
    query: Type.Object({
      ...PageQuery,
      status: Type.Optional(ExecutionStatusSchema),
      createdAfter: Type.Optional(Type.String({ description: "YYYY-MM-DD HH:MM:SS, UTC, inclusive" })),
      createdBefore: Type.Optional(Type.String({ description: "YYYY-MM-DD HH:MM:SS, UTC, exclusive" })),
    }),
    responses: { 200: { description: "One page", schema: Type.Array(StatusRecordSchema) } },
    problems: ["INVALID_INPUT", "UNAUTHENTICATED", "NOT_SUBSCRIBED", "SERVICE_NOT_FOUND"],
  },
  getState: {
    method: "GET",
    path: "/{id}",
    summary: "Get the state of an execution",
    params: IdParams,
    headers: PreferHeaders,
    responses: {
      200: {
        description: "Status record",
        schema: StatusRecordSchema,
        headers: { ETag: "Changes with the state" },
      },
      304: { description: "Not changed since the ETag in If-None-Match" },
    },
    problems: [
      "UNAUTHENTICATED",
      "NOT_SUBSCRIBED",
      "SERVICE_NOT_FOUND",
      "EXECUTION_NOT_FOUND",
      "RESULT_EXPIRED",
    ],
  },
  getResult: {
    method: "GET",
    path: "/{id}/result",
    summary: "Get the result of an execution, or why there is none",
    description: "200 for FAILED and UNKNOWN as well: the body then carries code and detail.",
    params: IdParams,
    headers: PreferHeaders,
    responses: { 200: { description: "Result, or cause of failure", schema: ResultSchema } },
    problems: [
      "UNAUTHENTICATED",
      "NOT_SUBSCRIBED",
      "SERVICE_NOT_FOUND",
      "EXECUTION_NOT_FOUND",
      "RESULT_NOT_READY",
      "RESULT_EXPIRED",
    ],
  },
  getLog: {
    method: "GET",
    path: "/{id}/log",
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
    problems: [
      "INVALID_INPUT",
      "UNAUTHENTICATED",
      "NOT_SUBSCRIBED",
      "SERVICE_NOT_FOUND",
      "EXECUTION_NOT_FOUND",
      "RESULT_EXPIRED",
    ],
  },
  cancelExecution: {
    method: "PUT",
    path: "/{id}/cancel",
    summary: "Cancel an execution",
    description:
      "A pending execution ends at once; the processes of a running one are ended. A finished one stays as it is.",
    params: IdParams,
    responses: { 200: { description: "Status record", schema: StatusRecordSchema } },
    problems: [
      "UNAUTHENTICATED",
      "NOT_SUBSCRIBED",
      "SERVICE_NOT_FOUND",
      "EXECUTION_NOT_FOUND",
      "RESULT_EXPIRED",
    ],
  },
} as const satisfies OperationTable;

export type ServiceOperationId = keyof typeof SERVICE_API;
