import type { ErrorObject } from "ajv";
import type { FieldError } from "@platform/contract/problems";

/** Turns what Ajv found (with `verbose` and `allErrors`) into one sentence per fault, in the order of the document. */
export function describeSchemaFaults(errors: readonly ErrorObject[]): readonly FieldError[] {
  const choices = collectChoices(errors);
  const faults = errors.filter((error) => error.keyword !== "anyOf" && !choices.has(error.instancePath));
  const described = joinTypes(errors, faults).map(describeFault);
  for (const [path, allowed] of choices) {
    const value = errors.find((error) => error.instancePath === path)?.data;
    described.push({
      path,
      message: `${getName(path)} must be ${allowed.map(quote).join(" or ")}, not ${quote(value)}.`,
    });
  }
  return described;
}

/** A union of literals fails once per literal and once as a whole, which is reported as one. */
function collectChoices(errors: readonly ErrorObject[]): ReadonlyMap<string, readonly unknown[]> {
  const choices = new Map<string, unknown[]>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== "const") continue;
    choices.set(instancePath, [...(choices.get(instancePath) ?? []), params["allowedValue"]]);
  }
  return choices;
}

/**
 * A union of types fails once per type and once as a whole. Where the value has one of the types, what else is wrong with it is what matters; else
 * the types are named at once, null only where there is no other.
 */
function joinTypes(errors: readonly ErrorObject[], faults: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = new Set(
    errors.flatMap(({ keyword, instancePath }) => (keyword === "anyOf" ? [instancePath] : [])),
  );
  const isType = ({ keyword, instancePath }: ErrorObject) => keyword === "type" && unions.has(instancePath);
  return faults.flatMap((fault) => {
    if (!isType(fault)) return [fault];
    const same = faults.filter(({ instancePath }) => isAt(instancePath, fault.instancePath));
    const types = same.filter((other) => isType(other) && other.instancePath === fault.instancePath);
    if (types.length < same.length || types[0] !== fault) return [];
    const names = types.map(({ params }) => String(params["type"]));
    const shown = names.filter((name) => name !== "null");
    return [{ ...fault, params: { type: (shown.length === 0 ? names : shown).join(" or ") } }];
  });
}

const isAt = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

function describeFault(error: ErrorObject): FieldError {
  const name = getName(error.instancePath);
  switch (error.keyword) {
    case "required": {
      const missing = String(error.params["missingProperty"]);
      return {
        path: `${error.instancePath}/${missing}`,
        message: `${missing} is missing${describeMissing(error.parentSchema, missing)}.`,
      };
    }
    case "additionalProperties": {
      const extra = String(error.params["additionalProperty"]);
      const known = Object.keys(readProperties(error.parentSchema)).join(", ");
      const path = `${error.instancePath}/${extra.slice(0, MAX_QUOTED).replaceAll("~", "~0").replaceAll("/", "~1")}`;
      return { path, message: `${quote(extra)} is not a known field; known are ${known}.` };
    }
    case "type": {
      const expected = String(error.params["type"]);
      return {
        path: error.instancePath,
        message: `${name} must be of type ${expected}, not ${nameType(error.data)}.`,
      };
    }
    case "pattern": {
      // The pattern itself tells nobody anything.
      const expected = readDescription(error.parentSchema) ?? "another form";
      return {
        path: error.instancePath,
        message: `${name} cannot be ${quote(error.data)}; expected: ${expected}.`,
      };
    }
    case "minItems":
      return { path: error.instancePath, message: `${name} is empty; at least one item is needed.` };
    default: {
      const hint = readDescription(error.parentSchema);
      const message = `${name} ${error.message ?? "is invalid"}, not ${quote(error.data)}${hint === null ? "" : ` (${hint})`}.`;
      return { path: error.instancePath, message };
    }
  }
}

/** Where there is one value only, it is said. */
function describeMissing(schema: unknown, name: string): string {
  const wanted: unknown = new Map(Object.entries(readProperties(schema))).get(name);
  if (typeof wanted !== "object" || wanted === null || !("const" in wanted)) return "";
  return `: it must be ${quote(wanted.const)}`;
}

function readProperties(schema: unknown): object {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return {};
  return typeof schema.properties === "object" && schema.properties !== null ? schema.properties : {};
}

function readDescription(schema: unknown): string | null {
  if (typeof schema !== "object" || schema === null || !("description" in schema)) return null;
  return typeof schema.description === "string" ? schema.description : null;
}

function getName(pointer: string): string {
  return pointer === "" ? "the document" : pointer.slice(1).replaceAll("/", ".");
}

const MAX_QUOTED = 80;

/** A value for a message, truncated. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text;
}

function nameType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
