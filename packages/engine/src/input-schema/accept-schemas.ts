import { withoutExactNumbers } from "@platform/contract/exact-number";
import { findExcess } from "./bounds.ts";
import { findUncheckable } from "./input-validator.ts";
import type { Schema } from "./reading.ts";

/** The schemas of a version as they are stored, and notes about them for its author, one line each. */
export interface AcceptedSchemas<S> {
  readonly inputSchema: S | null;
  readonly outputSchema: S | null;
  readonly notes: readonly string[];
}

/** Bounds the schemas that were derived from user code: they are stored, shown to callers, and read at every start. Never throws. */
export function acceptSchemas<S extends Schema>(derived: {
  readonly inputSchema: S | null;
  readonly outputSchema: S | null;
}): AcceptedSchemas<S> {
  const notes: string[] = [];
  const accept = (name: string, schema: S | null): S | null => {
    const excess = schema === null ? null : findExcess(schema);
    if (excess === null) return schema;
    notes.push(`The ${name} schema ${excess}: it is left out of the version and its documentation.`);
    return null;
  };
  const inputSchema = accept("input", derived.inputSchema);
  const uncheckable = inputSchema === null ? null : findUncheckable(withoutExactNumbers(inputSchema));
  if (uncheckable !== null)
    notes.push(
      `The input schema ${uncheckable}: input is not checked when an execution is started, only when it runs.`,
    );
  return { inputSchema, outputSchema: accept("output", derived.outputSchema), notes };
}
