import type { SchemaNode } from "./schema-node.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** Why the door cannot check by a schema. The message is the end of a sentence that begins with the schema. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";
}

/** What a keyword needs to read its value. */
export interface Reading {
  /** The schema that the keyword stands in. */
  readonly schema: Schema;
  /** Reads a schema for members of the value. */
  readonly readMember: (schema: unknown) => SchemaNode;
  /** Reads a schema for the value itself. */
  readonly readSame: (schema: unknown) => SchemaNode;
  /** Reads the schema that a `$ref` names; it is for the value itself. */
  readonly readReference: (reference: string) => SchemaNode;
}
