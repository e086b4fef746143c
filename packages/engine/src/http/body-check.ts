import { Ajv } from "ajv";
import type { ValidateFunction } from "ajv";
import type { FieldError } from "@platform/contract/problems";
import type { Static, TSchema } from "typebox";
import { toFieldErrors } from "./field-errors.ts";

/** How bodies of requests are validated. Nothing of them is changed by it. */
export const VALIDATION = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: false,
  // Faults carry the schema of their field.
  verbose: true,
};

/** The value, or what is wrong with it. */
type Checked<T> =
  | { readonly isValid: true; readonly value: T }
  | { readonly isValid: false; readonly errors: readonly FieldError[] };

/** Checks what is no request by the rules, and with the texts, of the operation that has a body of this schema. */
export function createBodyCheck<const Schema extends TSchema>(
  schema: Schema,
): (value: unknown) => Checked<Static<Schema>> {
  // With the first value: a process starts with many schemas, and checks values of few.
  let validate: ValidateFunction<Static<Schema>> | undefined;
  return (value) => {
    validate ??= new Ajv(VALIDATION).compile<Static<Schema>>(schema);
    return validate(value)
      ? { isValid: true, value }
      : { isValid: false, errors: toFieldErrors(validate.errors ?? []) };
  };
}
