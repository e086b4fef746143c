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

/**
 * How a body reaches the handler, and its media type. `none`: a JSON body is read and ignored. `json`: parsed and checked
 * against the row's `body`. `raw`: the bytes as received, which the handler checks. `stream`: while it is received.
 */
export const BODY_TYPES = {
  none: null,
  json: "application/json",
  raw: "application/json",
  stream: "application/zip",
} as const;

export type BodyMode = keyof typeof BODY_TYPES;

/** One row of an operation table: from it come the route, its validation, OpenAPI and the typed client. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the API's base, with `{name}` for parameters. */
  readonly path: string;
  /** `caller`: every authenticated caller. An action: members of the organisation whose role allows it. */
  readonly allows: "caller" | Action;
  /** To whom belongs what it reads or changes: the calling user, the organisation that is called for, or the subscription. */
  readonly scope: "user" | "organisation" | "subscription";
  /** What the operation is called in an audit log, `resource.verb`; null where it changes nothing. */
  readonly audit: string | null;
  readonly rate: RateClass;
  readonly bodyMode: BodyMode;
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
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** What it may be refused with besides what `listProblems` adds. */
  readonly problems: readonly ProblemCode[];
}

/** Operation id -> row. */
export type OperationTable = Readonly<Record<string, Operation>>;

/** What every operation may be refused with. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  "INVALID_INPUT",
  "NOT_ACCEPTABLE",
  "INTERNAL_ERROR",
  "UNAVAILABLE",
];

/** What every operation but a GET may be refused with: a body is read, or refused, whether one is expected or not. */
const BODY_PROBLEMS: readonly ProblemCode[] = [
  "REQUEST_TIMEOUT",
  "INPUT_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

/** All codes that an operation may be refused with, its own first. */
export function listProblems({ method, bodyMode, problems }: Operation): readonly ProblemCode[] {
  const codes = new Set<ProblemCode>([
    ...problems,
    ...COMMON_PROBLEMS,
    ...(method === "GET" ? [] : BODY_PROBLEMS),
    ...(BODY_TYPES[bodyMode] === "application/json" ? (["INVALID_JSON"] as const) : []),
  ]);
  return [...codes];
}
