import type { TObject, TSchema } from "typebox";
import type { ProblemCode } from "./problems.ts";

export interface OperationResponse {
  readonly description: string;
  /** JSON body; absent where `contentType` names another form. */
  readonly schema?: TSchema;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One row of an operation table: from it come the route, its validation, OpenAPI and the typed client. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the API's base, with `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** Default `application/json`. */
  readonly bodyType?: "application/json" | "application/zip";
  readonly responses: Readonly<Record<number, OperationResponse>>;
  readonly problems: readonly ProblemCode[];
}

/** Operation id -> row. */
export type OperationTable = Readonly<Record<string, Operation>>;
