import type { TObject, TSchema } from "typebox";
import type { Action } from "./actions.ts";
import type { ProblemCode } from "./problems.ts";

/** One successful (or 304) response of an operation. */
export interface OperationResponse {
  /** Text for OpenAPI, without a period. */
  readonly description: string;
  /** Schema of the JSON body; absent if the response has no body. */
  readonly schema?: TSchema;
  /** The headers that matter to clients: name -> description. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Answered only to requests with this preference (`Prefer`). OpenAPI has it as `x-preferred-responses` of the operation: generators take
   * the lowest status below 300 for the only answer, or join all of them to one type, and their clients would break.
   */
  readonly preference?: string;
}

/** One type of event in a stream. */
export interface OperationEvent {
  readonly description: string;
  readonly schema: TSchema;
}

/** Rate limits are counted per class: all operations of a class share one limit. */
export type RateClass = "start" | "poll" | "read" | "write" | "upload";

/**
 * How the request body reaches the handler, and its media type. `none`: a JSON body is read and ignored. `json`: parsed and
 * validated against `body` of the operation. `optional`: the same, and a missing body is `{}`. `raw`: the received bytes; the handler validates them. `batch`: the same of
 * many starts, whose bytes are counted while they are in memory. `stream`: the handler reads the body while it arrives. `file`: the same, of any media type or none.
 */
export const BODY_TYPES = {
  none: null,
  json: "application/json",
  optional: "application/json",
  raw: "application/json",
  batch: "application/json",
  stream: "application/zip",
  file: null,
} as const;

/** Media type of a form, which a row may accept in place of JSON. */
export const FORM_TYPE = "application/x-www-form-urlencoded";

/** How the request body reaches the handler, see `BODY_TYPES`. */
export type BodyMode = keyof typeof BODY_TYPES;

/** One row of an operation table. The route, its validation, OpenAPI and the typed client are derived from it. */
export interface Operation {
  /** PATCH, HEAD and OPTIONS are for protocols that ask for them: a HEAD is otherwise answered by its GET. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS";
  /** Path below the API's base, with `{name}` for parameters. */
  readonly path: string;
  /**
   * Who may call it. `public`: everybody, without credentials. `caller`: every authenticated caller. `operator`: who runs the
   * platform. An action: members of the organisation whose role allows the action (permissions.ts).
   */
  readonly allows: "public" | "caller" | "operator" | Action;
  /**
   * Owner of the resources that it reads or changes: the calling user, the organisation of the request, the application, its subscription,
   * whoever runs the local server, or the platform as a whole.
   */
  readonly scope: "user" | "organisation" | "application" | "subscription" | "local" | "platform";
  /** Name of the operation in the audit log, `resource.verb`; null if it changes nothing. Starts have one and are not written. */
  readonly audit: string | null;
  readonly rate: RateClass;
  /** Of the quantum API: executions of services may call it as well. Missing: it is for users alone. */
  readonly forExecutions?: true;
  readonly bodyMode: BodyMode;
  /** Of a body of mode `json`: numbers that a double would change reach the handler as `ExactNumber`; the schema sees doubles. */
  readonly keepsDigits?: true;
  /** For clients of OAuth: the body may also be a form, whose fields are strings, and refusals have `error`. */
  readonly acceptsForm?: true;
  /**
   * How the response body is written. `json`: serialised by the schema of its status. `bytes`: the handler returns JSON text;
   * used on the hot paths, whose handlers also validate the query. `none`: there is no body. `content`: the handler returns content
   * of a user with its type and name, and the row lists 200 alone: ranges (206, 416), 304 and HEAD are the same for all of them. The
   * type is the content's, whatever Accept says; refusals are JSON. `events`: a stream of server-sent events, which the row describes
   * as 200; refusals are JSON. `json-or-events`: as `json`, or such a stream where Accept names text/event-stream.
   */
  readonly answerMode: "json" | "bytes" | "none" | "content" | "events" | "json-or-events";
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly headers?: TObject;
  readonly body?: TSchema;
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** Of a stream of events: by type, besides `closed`, which every stream may have. `data` of each is JSON of its schema. */
  readonly events?: Readonly<Record<string, OperationEvent>>;
  /** Problem codes of this operation, besides those that `listProblems` adds. */
  readonly problems?: readonly ProblemCode[];
}

/** Operation id (as in OpenAPI) -> operation. */
export type OperationTable = Readonly<Record<string, Operation>>;

/** Problem codes of every operation on what such an owner has: how its callers are refused. */
const SCOPE_PROBLEMS: Readonly<Record<Operation["scope"], readonly ProblemCode[]>> = {
  user: ["UNAUTHENTICATED", "FORBIDDEN"],
  organisation: ["UNAUTHENTICATED", "FORBIDDEN"],
  application: ["UNAUTHENTICATED"],
  subscription: ["UNAUTHENTICATED", "NOT_SUBSCRIBED", "SERVICE_NOT_FOUND"],
  // Refuses requests with a foreign `Host`, and has neither tokens nor versions.
  local: ["FORBIDDEN"],
  platform: [],
};

/** Problem codes of every operation. */
const COMMON_PROBLEMS: readonly ProblemCode[] = ["INVALID_INPUT", "INTERNAL_ERROR", "UNAVAILABLE"];

/** Problem codes of every operation except GET: a body is always read or refused, even if none is expected. */
const BODY_PROBLEMS: readonly ProblemCode[] = [
  "REQUEST_TIMEOUT",
  "INPUT_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

/** Whose changes are counted: of known users of the platform API. */
const LIMITED_SCOPES: ReadonlySet<Operation["scope"]> = new Set(["user", "organisation"]);

/** All problem codes of an operation, without duplicates. */
export function listProblems({
  method,
  allows,
  scope,
  bodyMode,
  answerMode,
  rate,
  problems = [],
}: Operation): readonly ProblemCode[] {
  const codes = new Set<ProblemCode>([
    ...SCOPE_PROBLEMS[scope],
    ...(allows === "operator" ? SCOPE_PROBLEMS.user : []),
    ...problems,
    ...((LIMITED_SCOPES.has(scope) || allows === "operator") && rate !== "read" && rate !== "poll"
      ? (["RATE_LIMITED"] as const)
      : []),
    ...COMMON_PROBLEMS,
    answerMode === "content" ? "RANGE_NOT_SATISFIABLE" : "NOT_ACCEPTABLE",
    ...(method === "GET" ? [] : BODY_PROBLEMS),
    ...(BODY_TYPES[bodyMode] === "application/json" ? (["INVALID_JSON"] as const) : []),
  ]);
  return [...codes];
}
