import type { TObject, TSchema } from "typebox";
import type { ProblemCode } from "./problems.ts";

export interface OperationResponse {
  readonly description: string;
  /** JSON body; absent where there is none. */
  readonly schema?: TSchema;
  /** Name and description of the headers that matter to clients. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One row of an operation table: from it come the route, its validation, OpenAPI and the typed client. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the API's base, with `{name}` for parameters. */
  readonly path: string;
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
