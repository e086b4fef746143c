import type { FieldError } from "@platform/contract/problems";
import { isRecord } from "../base/json.ts";
import { findSimilar } from "../base/similar.ts";
import { describeUnknownProperty, listKnown } from "../base/unknown-property.ts";

/** What ajv says of a value that a schema refuses, as far as Fastify declares it. */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Of those that a sender has made up. */
const MAX_MISSPELT = 3;

/** The faults of a request for its sender: what is expected in place of a pattern. Of a union, what refuses a value of the right type, or else all types that it may have. */
export function toFieldErrors(faults: readonly Fault[]): readonly FieldError[] {
  const shown = faults.filter(({ keyword }) => keyword !== "anyOf");
  const others = shown.filter(({ keyword }) => keyword !== "type");
  const wrongTypes = shown.filter(
    ({ keyword, instancePath: path }) =>
      keyword === "type" &&
      !others.some((other) => other.instancePath === path || other.instancePath.startsWith(`${path}/`)),
  );
  const paths = [...new Set(wrongTypes.map(({ instancePath }) => instancePath))];
  return [
    ...paths.map((path) => ({ path, message: `must be ${listTypes(wrongTypes, path)}.` })),
    ...others
      .flatMap((fault) => [fault, ...listMisspelt(fault)])
      .map((fault) => ({ path: fault.instancePath, message: `${describeFault(fault)}.` })),
  ];
}

function listTypes(faults: readonly Fault[], path: string): string {
  const there = faults.filter(({ instancePath }) => instancePath === path);
  return [...new Set(there.map(({ params }) => String(params["type"])))].join(" or ");
}

/** Where a property is missing, ajv looks at no other: one that may be that property, misspelt, is a fault as well. */
function listMisspelt(fault: Fault): readonly Fault[] {
  const { properties, isClosed } = readSchema(fault);
  const data = readPart(fault, "data");
  if (fault.keyword !== "required" || !isClosed || !isRecord(data)) return [];
  const unknown = Object.keys(data)
    .filter((name) => !properties.includes(name))
    .slice(0, MAX_MISSPELT);
  return unknown.map((name) => ({
    ...fault,
    keyword: "additionalProperties",
    params: { additionalProperty: name },
  }));
}

function describeFault(fault: Fault): string {
  const { keyword, params, message = "is not valid" } = fault;
  switch (keyword) {
    case "pattern": {
      const expected = describeExpected(fault);
      return expected === undefined ? message : `is not as expected: ${expected}`;
    }
    case "enum":
      return Array.isArray(params["allowedValues"])
        ? `must be one of ${params["allowedValues"].map(String).join(", ")}`
        : message;
    case "const":
      return `must be ${String(params["allowedValue"])}`;
    case "additionalProperties":
      return describeUnknown(String(params["additionalProperty"]), readSchema(fault).properties);
    default:
      return message;
  }
}

function describeUnknown(name: string, known: readonly string[]): string {
  const meant = findSimilar(name, known);
  return describeUnknownProperty(name, meant === null ? listKnown(known) : ` (did you mean ${meant}?)`);
}

/** What the schema says of an object; needs `verbose` of ajv. */
function readSchema(fault: Fault): { readonly properties: readonly string[]; readonly isClosed: boolean } {
  const schema = readPart(fault, "parentSchema");
  if (!isRecord(schema)) return { properties: [], isClosed: false };
  const properties = isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return { properties, isClosed: schema["additionalProperties"] === false };
}

function readPart(fault: Fault, name: "data" | "parentSchema"): unknown {
  return Object.entries(fault).find(([key]) => key === name)?.[1];
}

/** The description of the field; needs `verbose` of ajv, which adds the schema. */
function describeExpected(fault: Fault): string | undefined {
  if (!("parentSchema" in fault) || typeof fault.parentSchema !== "object" || fault.parentSchema === null)
    return undefined;
  const schema: { readonly description?: unknown; readonly examples?: unknown } = fault.parentSchema;
  if (typeof schema.description !== "string") return undefined;
  const example: unknown = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  return typeof example === "string" ? `${schema.description}, such as ${example}` : schema.description;
}
