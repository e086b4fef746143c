import { Type } from "typebox";
import type { Static } from "typebox";

interface ProblemRule {
  readonly status: number;
  readonly detail: string;
  readonly retryable: boolean;
}

/** Codes of refused requests: HTTP status, default text, and whether the same request may succeed later. Never reused for another meaning. */
export const PROBLEMS = {
  INVALID_JSON: { status: 400, detail: "The body is not valid JSON.", retryable: false },
  INVALID_INPUT: { status: 400, detail: "The request does not have the expected form.", retryable: false },
  INVALID_PROJECT: { status: 400, detail: "The project cannot be deployed as it is.", retryable: false },
  INVALID_ARCHIVE: { status: 400, detail: "The archive cannot be unpacked safely.", retryable: false },
  UNAUTHENTICATED: { status: 401, detail: "A valid bearer token is needed.", retryable: false },
  FORBIDDEN: { status: 403, detail: "Your role does not allow this.", retryable: false },
  NOT_SUBSCRIBED: {
    status: 403,
    detail: "The application has no active subscription to this service.",
    retryable: false,
  },
  NOT_FOUND: { status: 404, detail: "There is nothing here.", retryable: false },
  SERVICE_NOT_FOUND: { status: 404, detail: "There is no such service or version.", retryable: false },
  EXECUTION_NOT_FOUND: { status: 404, detail: "There is no such execution.", retryable: false },
  RESULT_NOT_READY: { status: 404, detail: "The execution is not finished.", retryable: true },
  METHOD_NOT_ALLOWED: { status: 405, detail: "This resource does not support the method.", retryable: false },
  NOT_ACCEPTABLE: { status: 406, detail: "Only application/json can be answered.", retryable: false },
  REQUEST_TIMEOUT: { status: 408, detail: "The request did not arrive in time.", retryable: true },
  CONFLICT: { status: 409, detail: "The request contradicts the present state.", retryable: false },
  RESULT_EXPIRED: { status: 410, detail: "The result was kept for its time and is gone.", retryable: false },
  VERSION_RETIRED: { status: 410, detail: "This version takes no new executions.", retryable: false },
  INPUT_TOO_LARGE: {
    status: 413,
    detail: "The input is larger than 1 MB by value; pass it by reference with dataRef.",
    retryable: false,
  },
  ARCHIVE_TOO_LARGE: { status: 413, detail: "The archive is too large.", retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, detail: "The body must be application/json.", retryable: false },
  DATA_REFERENCE_INVALID: {
    status: 422,
    detail: "The reference names no file that this application may read as a JSON object.",
    retryable: false,
  },
  RATE_LIMITED: { status: 429, detail: "Too many requests.", retryable: true },
  QUOTA_EXCEEDED: {
    status: 429,
    detail: "The organisation has as much of this as it may have.",
    retryable: false,
  },
  INTERNAL_ERROR: { status: 500, detail: "Something went wrong on our side.", retryable: true },
  UNAVAILABLE: {
    status: 503,
    detail: "The platform cannot take this now; nothing was accepted.",
    retryable: true,
  },
} as const satisfies Record<string, ProblemRule>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Codes with which an execution ends that did not succeed; a service may choose codes of its own besides these. */
export const FAILURES = {
  EXECUTION_ERROR: "The user code raised an exception or ended its process.",
  CONNECTION_ERROR: "The user code could not reach a backend host.",
  STARTUP_ERROR: "The version's code could not be loaded.",
  NOT_STARTED: "The platform could not start the execution, however often it tried; user code did not begin.",
  INVALID_INPUT: "The input does not fit the types that the service declares.",
  INVALID_RESULT: "The result is not JSON.",
  RESULT_TOO_LARGE: "The result is larger than the limit.",
  OUT_OF_MEMORY: "The execution needed more memory than the service has.",
  TIMEOUT: "The execution ran longer than its limit.",
  CANCELLED: "The execution was cancelled.",
  DATA_REFERENCE_UNAVAILABLE: "A referenced input was gone when the execution began.",
  WORKER_LOST: "The worker vanished after user code had begun; the outcome is not known.",
} as const satisfies Record<string, string>;

export type FailureCode = keyof typeof FAILURES;

/** Codes with which a build ends that made no version. */
export const BUILD_FAILURES = {
  INVALID_PROJECT: "platform.json or the files of the project are not as they must be.",
  PROJECT_TOO_LARGE: "The project has too many or too large files.",
  INVALID_ARCHIVE: "The archive is not a zip file, or cannot be unpacked safely.",
  ARCHIVE_TOO_LARGE: "The archive holds more than may be unpacked.",
  INTERPRETER_NOT_FOUND: "The builder has no Python that versions can run with.",
  BUILD_FAILED: "The requirements could not be installed.",
  BUILD_TIMEOUT: "Installing the requirements took too long.",
  BUILD_CANCELLED: "The build was given up.",
  STARTUP_ERROR: "src/program.py could not be loaded, or has no run that can be called.",
  INTERNAL_ERROR: "Something went wrong on our side.",
} as const satisfies Record<string, string>;

export type BuildFailureCode = keyof typeof BUILD_FAILURES;

export const FieldErrorSchema = Type.Object(
  {
    path: Type.String({ description: "JSON pointer (RFC 6901) of the field at fault" }),
    message: Type.String({ description: "What is wrong with it" }),
  },
  { title: "FieldError", description: "One field that is at fault" },
);

export type FieldError = Static<typeof FieldErrorSchema>;

/** The one shape of every refused request. */
export const ProblemSchema = Type.Object(
  {
    code: Type.String({ description: "Machine-readable code" }),
    detail: Type.String({ description: "What happened, to which thing, and what to do" }),
    errors: Type.Optional(
      Type.Array(FieldErrorSchema, { description: "The fields at fault, where they are known" }),
    ),
    requestId: Type.Optional(Type.String({ description: "Names the request in the operator's log (5xx)" })),
  },
  { title: "Problem", description: "Why a request was refused" },
);

export type ProblemBody = Static<typeof ProblemSchema>;

export interface ProblemOptions extends ErrorOptions {
  readonly errors?: readonly FieldError[];
  /** Extra response headers, e.g. `Retry-After` (seconds) or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The caller's fault or ill luck, told with a code; anything else that is thrown is ours. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail?: string, options: ProblemOptions = {}) {
    super(detail ?? PROBLEMS[code].detail, options);
    this.name = "Problem";
    this.code = code;
    this.status = PROBLEMS[code].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }

  toBody(): ProblemBody {
    return { code: this.code, detail: this.message, ...(this.errors ? { errors: [...this.errors] } : {}) };
  }
}
