/** Any JSON object. */
export type JsonObject = { [name: string]: unknown };

export interface ClientOptions {
  /** Endpoint URL of the subscription; default: PLATFORM_SERVICE_ENDPOINT. */
  endpoint?: string;
  /** Default: PLATFORM_ACCESS_KEY_ID. */
  keyId?: string;
  /** Default: PLATFORM_ACCESS_KEY_SECRET. */
  secret?: string;
  /** Default: PLATFORM_TOKEN_URL, or `/token` beside the services of the endpoint. */
  tokenUrl?: string;
}

/** State of an execution. Times are UTC, `YYYY-MM-DD HH:MM:SS`. */
export interface Execution {
  id: string;
  /** PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN; states may be added: ask `terminal`. */
  status: string;
  /** Whether the state is final. */
  terminal: boolean;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  [member: string]: unknown;
}

export interface LogLine {
  timestamp: string;
  severity: string;
  message: string;
}

/** A JSON file of a data pool, or a part of it, in place of `data` or `params`. */
export class FileReference {
  constructor(ids: { dataPoolId: string; dataSourceDescriptorId: string; fileId: string; pointer?: string });
  readonly dataPoolId: string;
  readonly dataSourceDescriptorId: string;
  readonly fileId: string;
  /** JSON Pointer (RFC 6901) of the object in the file; absent: the whole file. */
  readonly pointer?: string;
  /** The reference as on the wire. */
  toJSON(): JsonObject;
}

/** Result of an execution that succeeded. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it says what `output` is
export class Result<Output> {
  /** The answer, digit by digit as the server sent it: numbers beyond 2^53 are exact here only. */
  readonly resultText: string;
  /** The parsed answer, also what this client does not know. */
  readonly body: JsonObject;
  /** What the service returned. */
  readonly output: Output;
  /** What the platform says about it, such as `_usage`. */
  readonly metadata: JsonObject | null;
  /** Names of the files of the result. */
  readonly files: string[];
}

/** Other members of a start, such as `startAt` and `persistTo`. */
export interface StartOptions {
  more?: JsonObject;
  /** Starts with the same key are one execution; default: a new one. */
  idempotencyKey?: string;
}

export interface RunOptions {
  /** Seconds after which the waiting ends, not the execution. */
  timeout?: number | null | undefined;
  more?: JsonObject;
}

/** Starts executions of a service and fetches what becomes of them. */
export class Client<Data = JsonObject, Params = JsonObject, Output = JsonObject> {
  constructor(options?: ClientOptions);
  readonly endpoint: string;
  /** Uses another key from now on, such as the one that replaces the former. */
  useKey(keyId: string, secret: string): void;
  /** Starts an execution, once, however often the request has to be sent. */
  start(
    data?: Data | FileReference | null,
    params?: Params | FileReference | null,
    options?: StartOptions,
  ): Promise<Execution>;
  /** The state at present. */
  state(id: string): Promise<Execution>;
  /** Waits until the execution has ended, however it ended. @throws WaitTimeout */
  wait(id: string, options?: { timeout?: number | null | undefined }): Promise<Execution>;
  /** The result of an execution that has ended. @throws ExecutionFailed, ExecutionUnknown, RequestRefused */
  result(id: string): Promise<Result<Output>>;
  /** Starts, waits, and fetches the result. */
  run(
    data?: Data | FileReference | null,
    params?: Params | FileReference | null,
    options?: RunOptions,
  ): Promise<Result<Output>>;
  /** Cancels it: what waits ends at once, what runs within seconds. */
  cancel(id: string): Promise<Execution>;
  /** The lines so far, oldest first. */
  log(id: string): Promise<LogLine[]>;
  /** Names of the files of the result. */
  files(id: string): Promise<string[]>;
  /** The content of a file of the result, as a whole in memory. */
  download(id: string, name: string): Promise<Uint8Array>;
  /** The newest executions of the subscription, at most `limit` (100). */
  list(query?: { status?: string; limit?: number }): Promise<Execution[]>;
}

/** Base of all errors of this client. */
export class ClientError extends Error {}

declare class NotSucceeded extends ClientError {
  readonly code: string;
  readonly detail: string;
  readonly id: string;
  /** The whole answer, with the last checkpoint as `result` where `partial` is true. */
  readonly body: JsonObject;
}

/** It raised, exceeded a limit, was cancelled or could not start: it did not succeed. */
export class ExecutionFailed extends NotSucceeded {}

/** The worker was lost while the code may have been running: nobody can say what it did. */
export class ExecutionUnknown extends NotSucceeded {}

/**
 * The server refused a request, and asking again as it is would not help. Also, with a `status` of 2xx, an answer that is not that of a
 * service.
 */
export class RequestRefused extends ClientError {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: { path: string; message: string }[];
  readonly requestId: string | null;
  readonly body: JsonObject;
}

/** The waiting has ended, not the execution. */
export class WaitTimeout extends ClientError {
  readonly id: string;
}

/** No answer came, however often it was tried; `cause` is the last failure. */
export class ServerUnreachable extends ClientError {}
