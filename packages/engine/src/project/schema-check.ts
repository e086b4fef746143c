import type { FieldError } from "@platform/contract/problems";
import { Ajv } from "ajv";
import { describeSchemaFaults } from "./schema-faults.ts";

/** A value can have 100,000 faults, and each takes more room than what it is about. */
const MAX_FAULTS = 50;

/** A value that a schema was made for, or what is wrong with it. */
export type Checked<T> = { readonly value: T } | { readonly faults: readonly FieldError[] };

/** Checks values against a schema whose values are of type `T`, in the words of `platform.json`. */
export function createSchemaCheck<T>(schema: object): (value: unknown) => Checked<T> {
  // 0.3 is not a multiple of 0.001 in binary arithmetic; a precision of six digits makes it one.
  const validate = new Ajv({
    allErrors: true,
    verbose: true,
    strict: false,
    multipleOfPrecision: 6,
  }).compile<T>(schema);
  return (value) =>
    validate(value)
      ? { value }
      : { faults: describeSchemaFaults((validate.errors ?? []).slice(0, MAX_FAULTS)) };
}
