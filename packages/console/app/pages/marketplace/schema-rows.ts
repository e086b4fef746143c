import { findDefinition, isSchema } from "../../util/json-schema.ts";
import type { Schema } from "../../util/json-schema.ts";

/** A member of what a service takes or gives. */
export interface SchemaRow {
  /** Its place, e.g. `data.tours`. */
  readonly path: string;
  /** Its type in words, e.g. `array of integer`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The schema is its author's: its depth and breadth are not ours to trust. */
const MOST_DEPTH = 4;
const MOST_ROWS = 200;
const MOST_VALUES = 8;

/** The members of an object's schema, inner ones behind their outer one; none where it describes no members. */
export function listMembers(schema: unknown): readonly SchemaRow[] {
  const rows: SchemaRow[] = [];
  if (isSchema(schema)) collect(schema, schema, { path: "", depth: 0 }, rows);
  return rows;
}

/** The type of a schema in words. */
export function describeType(schema: unknown, depth = 0): string {
  if (!isSchema(schema) || depth > MOST_DEPTH) return "any";
  const { $ref, enum: values, anyOf, oneOf } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "any";
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(values)) return describeValues(values);
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return choices.map((one) => describeType(one, depth + 1)).join(" or ");
  return describePlain(schema, depth);
}

function describePlain({ type, items, additionalProperties: others }: Schema, depth: number): string {
  if (Array.isArray(type)) return type.map(String).join(" or ");
  if (type === "array") return `array of ${describeType(items, depth + 1)}`;
  if (type === "object" && isSchema(others)) return `object of ${describeType(others, depth + 1)}`;
  return typeof type === "string" ? type : "any";
}

function describeValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MOST_VALUES).map((value) => JSON.stringify(value));
  return [...shown, ...(values.length > MOST_VALUES ? ["..."] : [])].join(", ");
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

/** Stops when there are rows enough: definitions that name each other would multiply. */
function collect(root: Schema, given: Schema, { path, depth }: Place, rows: SchemaRow[]): void {
  const { properties, required } = findDefinition(root, given) ?? given;
  if (!isSchema(properties) || depth > MOST_DEPTH) return;
  const needed = new Set(Array.isArray(required) ? required : []);
  for (const [name, member] of Object.entries(properties)) {
    if (rows.length >= MOST_ROWS) return;
    const inner = [...(path === "" ? [] : [path]), toStep(name)].join(".");
    const description = isSchema(member) ? member["description"] : undefined;
    rows.push({
      path: inner,
      type: describeType(member),
      isRequired: needed.has(name),
      description: typeof description === "string" ? description : "",
    });
    if (isSchema(member)) collect(root, member, { path: inner, depth: depth + 1 }, rows);
  }
}

function toStep(name: string): string {
  return /^[\w-]+$/u.test(name) ? name : JSON.stringify(name);
}
