import type { OperationResponse } from "@platform/contract/operation";

type Schema = NonNullable<OperationResponse["schema"]>;

/** What of a JSON schema says which kind of value it is. */
interface Kind {
  readonly type?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly required?: readonly string[];
}

/** Whether an operation may be answered with this; undefined: an answer without a body. */
export function mayAnswer(responses: Readonly<Record<number, OperationResponse>>, answer: unknown): boolean {
  return Object.entries(responses).some(([status, { schema }]) => {
    if (Number(status) >= 300) return false;
    return schema === undefined ? answer === undefined : resembles(schema, answer);
  });
}

/**
 * Whether a value is of the kind of a schema. An older platform lacks members that are required by now, and what is no platform has some of
 * the same names: half of them are enough.
 */
function resembles(schema: Schema, value: unknown): boolean {
  const { type, anyOf, allOf, required = [] }: Kind = schema;
  if (value === undefined) return false;
  if (anyOf !== undefined) return anyOf.some((one) => resembles(one, value));
  if (allOf !== undefined) return allOf.every((one) => resembles(one, value));
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type !== "object") return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return required.filter((name) => Object.hasOwn(value, name)).length * 2 >= required.length;
}
