import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import type { AcceptedBody } from "./start-body.ts";

/** Keywords whose cost the author of a schema could drive up at the door; the run itself checks them again in its sandbox. */
const DROPPED = new Set([
  "pattern",
  "patternProperties",
  "format",
  "uniqueItems",
  "contains",
  "$id",
  "$schema",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
]);
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_KEPT = 500;
const MAX_ERRORS = 20;
const ROOT = "input";

type Schema = Readonly<Record<string, unknown>>;
type Validators = Readonly<Record<"data" | "params", ValidateFunction | null>>;

/** Checks `data` and `params` given by value against the schema that was derived from `run`. */
export interface InputValidator {
  /** @throws Problem INVALID_INPUT with JSON pointers */
  readonly check: (versionId: string, schema: Schema | null, body: AcceptedBody) => void;
}

export function createInputValidator(): InputValidator {
  const compiled = new Map<string, Validators>();
  return {
    check: (versionId, schema, body) => {
      if (schema === null) return;
      const validators = compiled.get(versionId) ?? compileSchema(schema);
      if (!compiled.has(versionId)) {
        if (compiled.size >= MAX_KEPT) compiled.clear();
        compiled.set(versionId, validators);
      }
      const errors = [...findErrors("data", validators, body), ...findErrors("params", validators, body)];
      if (errors.length === 0) return;
      const first = errors.slice(0, 3).map((error) => `${error.path} ${error.message}`);
      throw new Problem(
        "INVALID_INPUT",
        `The input does not fit the types that the service declares: ${first.join("; ")}.`,
        { errors },
      );
    },
  };
}

function findErrors(
  key: "data" | "params",
  validators: Validators,
  body: AcceptedBody,
): readonly FieldError[] {
  const validate = validators[key];
  if (validate === null || body.references[key] !== undefined || validate(body[key] ?? {})) return [];
  return (validate.errors ?? []).slice(0, MAX_ERRORS).map((error) => ({
    path: `/${key}${error.instancePath}`,
    message: error.message ?? "does not fit",
  }));
}

function compileSchema(schema: Schema): Validators {
  if (JSON.stringify(schema).length > MAX_SCHEMA_BYTES) return { data: null, params: null };
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  ajv.addSchema(dropCostly(schema), ROOT);
  return { data: compileMember(ajv, schema, "data"), params: compileMember(ajv, schema, "params") };
}

function compileMember(ajv: Ajv2020, schema: Schema, key: "data" | "params"): ValidateFunction | null {
  const properties = schema["properties"];
  if (typeof properties !== "object" || properties === null || !(key in properties)) return null;
  try {
    return ajv.compile({ $ref: `${ROOT}#/properties/${key}` });
  } catch {
    // A schema that cannot be compiled is no reason to refuse a caller: the run checks its input itself.
    return null;
  }
}

function dropCostly(schema: unknown, isNameMap = false): Schema {
  return Object.fromEntries(
    Object.entries(schema as Schema)
      .filter(([keyword]) => isNameMap || !DROPPED.has(keyword))
      .map(([keyword, value]) => [
        keyword,
        dropWithin(value, !isNameMap && (keyword === "properties" || keyword === "$defs")),
      ]),
  );
}

function dropWithin(value: unknown, isNameMap: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => dropWithin(item, false));
  return typeof value === "object" && value !== null ? dropCostly(value, isNameMap) : value;
}
