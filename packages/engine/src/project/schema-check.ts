import type { FieldError } from "@platform/contract/problems";
import { Ajv } from "ajv";
import type { ValidateFunction } from "ajv";
import { describeSchemaFaults } from "./schema-faults.ts";

/** A value can have 100,000 faults, and each takes more room than what it is about. */
const MAX_FAULTS = 50;

const OPTIONS = {
  allErrors: true,
  verbose: true,
  strict: false,
  // 0.3 is not a multiple of 0.001 in binary arithmetic; a precision of six digits makes it one.
  multipleOfPrecision: 6,
};

/** A value that a schema was made for, or what is wrong with it. */
export type Checked<T> = { readonly value: T } | { readonly faults: readonly FieldError[] };

/** Checks values against a schema whose values are of type `T`, in the words of `platform.json`. */
export function createSchemaCheck<T>(schema: object): (value: unknown) => Checked<T> {
  // With the first value: most processes read no project.
  let validate: ValidateFunction<T> | undefined;
  return (value) => {
    validate ??= new Ajv(OPTIONS).compile<T>(schema);
    return validate(value)
      ? { value }
      : { faults: describeSchemaFaults((validate.errors ?? []).slice(0, MAX_FAULTS)) };
  };
}
