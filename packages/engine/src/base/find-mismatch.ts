import { Errors } from "typebox/schema";
import type { TSchema } from "typebox";

/** Where a value differs from a schema, and how, for people; null: nowhere. */
export function findMismatch(schema: TSchema, value: unknown): string | null {
  const [isRight, [first]] = Errors(schema, value);
  if (isRight) return null;
  if (first === undefined) return "has another form";
  // Of a property that a closed schema does not know, typebox says that its schema is `false`.
  const message = first.keyword === "boolean" ? "is not known" : first.message;
  return `${first.instancePath || "/"} ${message}`;
}
