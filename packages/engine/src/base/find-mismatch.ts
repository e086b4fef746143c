import { Errors } from "typebox/schema";
import type { TSchema } from "typebox";

/** Where a value differs from a schema, and how, for people; null: nowhere. */
export function findMismatch(schema: TSchema, value: unknown): string | null {
  const [isRight, [first]] = Errors(schema, value);
  if (isRight) return null;
  return first === undefined ? "has another form" : `${first.instancePath || "/"} ${first.message}`;
}
