import type { TObject, TSchema } from "typebox";
import type { ProblemCode } from "./problems.ts";

export interface OperationResponse {
  readonly description: string;
  /** JSON body; absent where there is none. */
  readonly schema?: TSchema;
  /** Name and description of the headers that matter to clients. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What may be done in an organisation: `read` looks, `write` creates and edits, `delete` removes permanently. */
export type Action = "read" | "write" | "delete";

/** What a limit on requests is counted by: operations of one class share it. */
export type RateClass = "start" | "poll" | "read" | "write" | "upload";

/** One row of an operation table: from it come the route, its validation, OpenAPI and the typed client. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the API's base, with `{name}` for parameters. */
  readonly path: string;
  /** `caller`: everybody who is authenticated. An action: members of the organisation whose role allows it. */
  readonly allows: "caller" | Action;
  /** To whom belongs what it reads or changes: the calling user, the organisation that is called for, or the subscription. */
  readonly scope: "user" | "organisation" | "subscription";
  /** What the operation is called in an audit log, `resource.verb`; null where it changes nothing. */
  readonly audit: string | null;
  readonly rate: RateClass;
  /**
   * How the body reaches the handler. `none`: a body is read and ignored. `json`: parsed and checked against `body`.
   * `raw`: the bytes as received, which the handler checks. `stream`: while it is received.
   */
  readonly bodyMode: "none" | "json" | "raw" | "stream";
  /**
   * How the answer is written. `json`: serialised by the schema of its status. `bytes`: JSON text that the handler has;
   * these are the hot paths, and their handlers check the query as well. `none`: there is no body.
   */
  readonly answerMode: "json" | "bytes" | "none";
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** Default `application/json`. */
  readonly bodyType?: "application/json" | "application/zip";
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** What it may be refused with besides `COMMON_PROBLEMS` and, where the method has a body, `BODY_PROBLEMS`. */
  readonly problems: readonly ProblemCode[];
}

/** What every operation may be refused with. */
export const COMMON_PROBLEMS = [
  "INVALID_INPUT",
  "NOT_ACCEPTABLE",
  "INTERNAL_ERROR",
  "UNAVAILABLE",
] as const satisfies readonly ProblemCode[];

/** What every operation but a GET may be refused with: a body is read, or refused, whether one is expected or not. */
export const BODY_PROBLEMS = [
  "INVALID_JSON",
  "REQUEST_TIMEOUT",
  "INPUT_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
] as const satisfies readonly ProblemCode[];

/** Operation id -> row. */
export type OperationTable = Readonly<Record<string, Operation>>;
