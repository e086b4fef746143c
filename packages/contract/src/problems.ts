import { Type } from "typebox";
import type { Static } from "typebox";

interface ProblemRule {
  /** HTTP status. */
  readonly status: number;
  /** Default text; the refusal itself may give a more exact one. */
  readonly detail: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
}

/** Codes of refused requests. Clients depend on them: a code never gets another meaning. */
export const PROBLEMS = {
  INVALID_JSON: { status: 400, detail: "The body is not valid JSON.", retryable: false },
  INVALID_INPUT: { status: 400, detail: "The request does not have the expected form.", retryable: false },
  INVALID_PROJECT: {
    status: 400,
    detail: "The project is invalid; `errors` lists what is wrong.",
    retryable: false,
  },
  INVALID_ARCHIVE: { status: 400, detail: "The archive cannot be unpacked safely.", retryable: false },
  CHECKSUM_MISMATCH: {
    status: 400,
    detail: "What arrived does not have the given checksum; send it again.",
    retryable: true,
  },
  MAX_COST_EXCEEDED: {
    status: 400,
    detail: "The job may cost more than its max_cost; nothing has run.",
    retryable: false,
  },
  UNAUTHENTICATED: { status: 401, detail: "A valid bearer token is required.", retryable: false },
  AUTHORIZATION_PENDING: {
    status: 400,
    detail: "The user has not confirmed the login yet.",
    retryable: true,
  },
  SLOW_DOWN: {
    status: 400,
    detail: "This was asked too soon: wait 5 seconds longer between two questions.",
    retryable: true,
  },
  EXPIRED_TOKEN: {
    status: 400,
    detail: "The login was not confirmed in time, or is over: begin anew.",
    retryable: false,
  },
  ACCESS_DENIED: { status: 400, detail: "The user has refused the login.", retryable: false },
  INVALID_CREDENTIALS: {
    status: 401,
    detail: "There is no user with this email address and password.",
    retryable: false,
  },
  FORBIDDEN: {
    status: 403,
    detail: "Your role, or the scope of your token, does not allow this.",
    retryable: false,
  },
  NOT_SUBSCRIBED: {
    status: 403,
    detail: "The application has no active subscription to this service.",
    retryable: false,
  },
  SUBSCRIPTION_ENDED: {
    status: 403,
    detail: "The provider of the service has ended the subscription: it starts nothing any more.",
    retryable: false,
  },
  NOT_SHARED: {
    status: 403,
    detail:
      "Another organisation has started this execution; its input and result are not shown, and its log only if the subscription shares it.",
    retryable: false,
  },
  NOT_FOUND: { status: 404, detail: "The resource does not exist.", retryable: false },
  SERVICE_NOT_FOUND: { status: 404, detail: "There is no such service or version.", retryable: false },
  BACKEND_NOT_FOUND: {
    status: 404,
    detail: "The organisation has no backend with this id.",
    retryable: false,
  },
  EXECUTION_NOT_FOUND: { status: 404, detail: "There is no such execution.", retryable: false },
  RESULT_NOT_READY: { status: 404, detail: "The execution is not finished.", retryable: true },
  METHOD_NOT_ALLOWED: { status: 405, detail: "This resource does not support the method.", retryable: false },
  NOT_ACCEPTABLE: {
    status: 406,
    detail: "Responses are available as application/json only.",
    retryable: false,
  },
  REQUEST_TIMEOUT: { status: 408, detail: "The request did not arrive in time.", retryable: true },
  CONFLICT: {
    status: 409,
    detail: "The request conflicts with the current state of the resource.",
    retryable: false,
  },
  NO_NORMAL_FORM: {
    status: 409,
    detail: "The result or input has no normal form; read it as it is.",
    retryable: false,
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    detail: "This Idempotency-Key was used with another request; send a new key, or the first request.",
    retryable: false,
  },
  LAST_OWNER: {
    status: 409,
    detail: "An organisation needs an owner; make another member owner first.",
    retryable: false,
  },
  LINK_EXPIRED: {
    status: 410,
    detail: "The link was used, was revoked, or has expired; ask for a new one.",
    retryable: false,
  },
  RESULT_EXPIRED: { status: 410, detail: "The retention period of this result has ended.", retryable: false },
  INPUT_EXPIRED: {
    status: 410,
    detail: "The input is not kept any more; state and result may be kept for longer.",
    retryable: false,
  },
  LOG_EXPIRED: {
    status: 410,
    detail: "The retention period of this log has ended; the result may be kept for longer.",
    retryable: false,
  },
  CURSOR_EXPIRED: {
    status: 410,
    detail:
      "What follows this cursor is not kept any more; begin with the oldest event that is (after=0), or with the next one (without after).",
    retryable: false,
  },
  VERSION_RETIRED: {
    status: 410,
    detail: "This version is retired and accepts no new executions.",
    retryable: false,
  },
  UPLOAD_EXPIRED: {
    status: 410,
    detail: "The upload has expired, and what had arrived was removed; begin anew.",
    retryable: false,
  },
  TUS_VERSION_UNSUPPORTED: {
    status: 412,
    detail: "Uploads need the header Tus-Resumable: 1.0.0.",
    retryable: false,
  },
  INPUT_TOO_LARGE: {
    status: 413,
    detail: "The input is larger than 1 MB by value; pass it by reference with dataRef.",
    retryable: false,
  },
  ARCHIVE_TOO_LARGE: { status: 413, detail: "The archive is too large.", retryable: false },
  FILE_TOO_LARGE: { status: 413, detail: "The file is too large.", retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, detail: "The body must be application/json.", retryable: false },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    detail: "The content has nothing in the range that was asked for.",
    retryable: false,
  },
  DATA_REFERENCE_INVALID: {
    status: 422,
    detail: "The reference does not identify a file that you may read and that holds a JSON object.",
    retryable: false,
  },
  UPLOAD_LOCKED: {
    status: 423,
    detail: "Another request goes on with this upload; ask how much has arrived, and go on from there.",
    retryable: true,
  },
  RATE_LIMITED: { status: 429, detail: "Too many requests.", retryable: true },
  QUOTA_EXCEEDED: {
    status: 429,
    detail:
      "The organisation has reached its limit for this resource, or the subscription the cap of its plan.",
    retryable: false,
  },
  UPLOAD_CHECKSUM_MISMATCH: {
    status: 460,
    detail: "The part does not have the sum of Upload-Checksum, and was not stored; send it again.",
    retryable: true,
  },
  INTERNAL_ERROR: { status: 500, detail: "An internal error occurred.", retryable: true },
  UNAVAILABLE: {
    status: 503,
    detail: "The platform cannot accept the request at present; nothing was stored.",
    retryable: true,
  },
} as const satisfies Record<string, ProblemRule>;

/** Code of a refused request. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Codes and default texts of executions that ended FAILED or UNKNOWN. A service may raise errors with codes of its own. */
export const FAILURES = {
  EXECUTION_ERROR: "The user code raised an exception or ended its process.",
  CONNECTION_ERROR: "The user code could not reach a backend host.",
  STARTUP_ERROR: "The version's code could not be loaded.",
  NOT_STARTED: "The platform could not start the execution after several attempts; user code did not begin.",
  START_DEADLINE_EXCEEDED:
    "The execution had not begun by the deadline of its start; user code did not begin.",
  INVALID_INPUT: "The input does not match the types that the service declares.",
  INVALID_RESULT: "The result is not JSON.",
  RESULT_TOO_LARGE: "The result is larger than the limit.",
  RESULT_NOT_STORED: "The result could not be stored.",
  OUT_OF_MEMORY: "The execution needed more memory than the version's limit.",
  TIMEOUT: "The execution ran longer than its time limit.",
  CANCELLED: "The execution was cancelled.",
  DATA_REFERENCE_UNAVAILABLE: "A referenced input was no longer available when the execution began.",
  WORKER_LOST: "The worker was lost while user code may have been running; the outcome is unknown.",
} as const satisfies Record<string, string>;

/** Codes and default texts of builds that ended without a version. */
export const BUILD_FAILURES = {
  INVALID_PROJECT: "The project is invalid; `detail` says what is wrong.",
  PROJECT_TOO_LARGE: "The project has too many or too large files.",
  INVALID_ARCHIVE: "The archive is not a ZIP file, or cannot be unpacked safely.",
  ARCHIVE_TOO_LARGE: "The unpacked content of the archive exceeds the limit.",
  INTERPRETER_NOT_FOUND: "The builder found no suitable Python interpreter.",
  BUILD_FAILED: "The requirements could not be installed.",
  BUILD_TIMEOUT: "Installing the requirements exceeded the time limit.",
  BUILD_CANCELLED: "The build was cancelled.",
  STARTUP_ERROR: "src/program.py could not be loaded, or has no callable `run`.",
  BACKEND_TOO_LARGE: "The backend asks for more than any worker has for executions of backends.",
  BACKEND_NOT_DESCRIBED:
    "The function `describe` of the backend is missing, failed, or returned something else than a description.",
  INTERNAL_ERROR: "An internal error occurred.",
} as const satisfies Record<string, string>;

/** Code of a build that ended without a version. */
export type BuildFailureCode = keyof typeof BUILD_FAILURES;

/** One entry of `errors` in the body of a refused request. */
export const FieldErrorSchema = Type.Object(
  {
    path: Type.String({ description: "JSON pointer (RFC 6901) of the invalid field" }),
    message: Type.String({ description: "Why the field is invalid" }),
  },
  { title: "FieldError", description: "One invalid field" },
);

/** One invalid field: JSON pointer (RFC 6901) and reason. */
export type FieldError = Static<typeof FieldErrorSchema>;

/** The body of every refused request. */
export const ProblemSchema = Type.Object(
  {
    code: Type.String({ description: "Machine-readable code" }),
    detail: Type.String({ description: "What went wrong, and what to do about it; a sentence for people" }),
    errors: Type.Optional(
      Type.Array(FieldErrorSchema, { description: "The invalid fields, if they are known" }),
    ),
    error: Type.Optional(
      Type.String({ description: "The code as OAuth writes it (logins of programs only)" }),
    ),
    requestId: Type.Optional(
      Type.String({ description: "Identifies the request in the operator's log (5xx only)" }),
    ),
  },
  { title: "Problem", description: "Why a request was refused" },
);

/** The parsed body of a refused request. */
export type ProblemBody = Static<typeof ProblemSchema>;

/** What a `Problem` carries besides code and text. */
export interface ProblemOptions extends ErrorOptions {
  /** The invalid fields. */
  readonly errors?: readonly FieldError[];
  /** Extra response headers, e.g. `Retry-After` (seconds) or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the caller can act on, identified by `code`. Anything else that is thrown is a bug. */
export class Problem extends Error {
  readonly code: ProblemCode;
  /** HTTP status of the response. */
  readonly status: number;
  /** The invalid fields; undefined when no field is concerned. */
  readonly errors: readonly FieldError[] | undefined;
  /** Extra headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param detail a sentence that ends with a period; default: the text of the code */
  constructor(code: ProblemCode, detail?: string, options: ProblemOptions = {}) {
    super(detail ?? PROBLEMS[code].detail, options);
    this.name = "Problem";
    this.code = code;
    this.status = PROBLEMS[code].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }

  /** The body of the response, without `requestId`. */
  toBody(): ProblemBody {
    return {
      code: this.code,
      detail: this.message,
      ...(this.errors ? { errors: [...this.errors] } : {}),
    };
  }
}
