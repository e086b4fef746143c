import type { SchemaNode } from "./schema-node.ts";

/** A JSON Schema that is an object. It comes from user code, so its keywords may have any value. */
export type Schema = Readonly<Record<string, unknown>>;

/** Why a schema cannot be used for the check before the run. The message completes a sentence that begins with the schema's name. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** Context in which a keyword reads its value. */
export interface Reading {
  /** The schema that contains the keyword. */
  readonly schema: Schema;
  /** Reads a schema for members of the value. */
  readonly readMember: (schema: unknown) => SchemaNode;
  /** Reads a schema for the value itself. */
  readonly readSame: (schema: unknown) => SchemaNode;
  /** Reads the schema that a `$ref` names; it is for the value itself. */
  readonly readReference: (reference: string) => SchemaNode;
}
