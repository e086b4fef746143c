import { isRecord } from "../base/json.ts";
import { describeUnknownProperty, listKnown } from "../base/unknown-property.ts";
import { SchemaError } from "./reading.ts";
import type { Reading } from "./reading.ts";
import { equalJson } from "./equal-json.ts";
import {
  isMismatch,
  judge,
  judgeItems,
  judgeMember,
  MAX_MISMATCHES,
  mismatch,
  spend,
} from "./schema-node.ts";
import type { Check, Mismatch, Place, SchemaNode, Verdict, Walk } from "./schema-node.ts";

/** Reads the value of a keyword. @throws SchemaError for a value that JSON Schema does not allow there */
type ReadKeyword = (value: unknown, reading: Reading) => Check;

/** Keywords that refuse nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  // From OpenAPI: it names the branch of a oneOf to read and does not affect validity.
  "discriminator",
]);

const TYPES = {
  string: (value: unknown) => typeof value === "string",
  number: (value: unknown) => Number.isFinite(value),
  integer: (value: unknown) => Number.isInteger(value),
  boolean: (value: unknown) => typeof value === "boolean",
  null: (value: unknown) => value === null,
  array: Array.isArray,
  object: isRecord,
} as const satisfies Record<string, (value: unknown) => boolean>;

/** The keywords that are checked, in the order in which mismatches are reported; the texts are those of Ajv, which callers know, but for an unknown property, which Ajv does not name. */
export const KEYWORDS: Readonly<Record<string, ReadKeyword>> = {
  type: readType,
  maximum: readNumber("<=", (value, limit) => value <= limit),
  minimum: readNumber(">=", (value, limit) => value >= limit),
  exclusiveMaximum: readNumber("<", (value, limit) => value < limit),
  exclusiveMinimum: readNumber(">", (value, limit) => value > limit),
  multipleOf: readMultipleOf,
  maxLength: readSize("more", "characters", measureText),
  minLength: readSize("fewer", "characters", measureText),
  $ref: readReference,
  const: readConst,
  enum: readEnum,
  anyOf: (value, reading) => checkAnyOf(readBranches("anyOf", value, reading)),
  oneOf: (value, reading) => checkOneOf(readBranches("oneOf", value, reading)),
  allOf: (value, reading) => checkAllOf(readBranches("allOf", value, reading)),
  maxItems: readSize("more", "items", measureArray),
  minItems: readSize("fewer", "items", measureArray),
  prefixItems: readPrefixItems,
  items: readItems,
  maxProperties: readSize("more", "properties", measureObject),
  minProperties: readSize("fewer", "properties", measureObject),
  required: readRequired,
  propertyNames: readPropertyNames,
  additionalProperties: readAdditionalProperties,
  properties: readProperties,
};

function readType(value: unknown): Check {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const tests = names.map((name) => {
    if (typeof name !== "string" || !Object.hasOwn(TYPES, name)) throw new SchemaError("has an unknown type");
    return TYPES[name as keyof typeof TYPES];
  });
  // Each value would be tested once per mention of a type; JSON Schema does not allow duplicates either.
  if (new Set(names).size < names.length) throw new SchemaError("names a type twice");
  const message = `must be ${names.join(",")}`;
  return (place) => (tests.some((test) => test(place.value)) ? "valid" : mismatch(place, message));
}

function readNumber(sign: string, holds: (value: number, limit: number) => boolean): ReadKeyword {
  return (limit) => {
    if (typeof limit !== "number") throw new SchemaError("has a limit that is not a number");
    return (place) =>
      typeof place.value !== "number" || holds(place.value, limit)
        ? "valid"
        : mismatch(place, `must be ${sign} ${limit}`);
  };
}

function readMultipleOf(divisor: unknown): Check {
  if (typeof divisor !== "number" || divisor <= 0)
    throw new SchemaError("has a multipleOf that is not a positive number");
  return (place) => {
    if (typeof place.value !== "number") return "valid";
    const quotient = place.value / divisor;
    if (Number.isInteger(quotient)) return "valid";
    // For pydantic, which rounds, 0.3 is a multiple of 0.1; by plain division it is not.
    const isNear = !Number.isFinite(quotient) || Math.abs(quotient - Math.round(quotient)) < 1e-6;
    return isNear ? "unknown" : mismatch(place, `must be multiple of ${divisor}`);
  };
}

/** The size of a value of the type that a limit applies to; null for other types. */
type Measure = (value: unknown, walk: Walk) => number | null;

function readSize(word: "more" | "fewer", unit: string, measure: Measure): ReadKeyword {
  return (limit) => {
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 0)
      throw new SchemaError(`has a limit on its ${unit} that is not a whole number`);
    return (place, walk) => {
      const size = measure(place.value, walk);
      const holds = size === null || (word === "more" ? size <= limit : size >= limit);
      return holds ? "valid" : mismatch(place, `must NOT have ${word} than ${limit} ${unit}`);
    };
  };
}

const CHARACTERS_A_STEP = 64;

function measureText(value: unknown, walk: Walk): number | null {
  if (typeof value !== "string") return null;
  spend(walk, Math.ceil(value.length / CHARACTERS_A_STEP));
  let pairs = 0;
  for (let at = 0; at < value.length; at++) if ((value.codePointAt(at) ?? 0) > 0xffff) pairs += 1;
  return value.length - pairs;
}

function measureArray(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null;
}

function measureObject(value: unknown, walk: Walk): number | null {
  return isRecord(value) ? listKeys(value, walk).length : null;
}

function readReference(value: unknown, reading: Reading): Check {
  if (typeof value !== "string") throw new SchemaError("has a $ref that is not a text");
  const target = reading.readReference(value);
  return (place, walk) => judge(target, place, walk);
}

function readConst(expected: unknown): Check {
  return (place, walk) =>
    equalJson(place.value, expected, walk) ? "valid" : mismatch(place, "must be equal to constant");
}

function readEnum(values: unknown): Check {
  if (!Array.isArray(values) || values.length === 0) throw new SchemaError("has an enum without values");
  const simple = new Set<unknown>(values.filter((value) => typeof value !== "object" || value === null));
  const others = values.filter((value) => !simple.has(value));
  return (place, walk) =>
    simple.has(place.value) || others.some((value) => equalJson(place.value, value, walk))
      ? "valid"
      : mismatch(place, "must be equal to one of the allowed values");
}

function readBranches(keyword: string, value: unknown, reading: Reading): readonly SchemaNode[] {
  if (!Array.isArray(value) || value.length === 0) throw new SchemaError(`has an ${keyword} without schemas`);
  return value.map(reading.readSame);
}

function checkAnyOf(branches: readonly SchemaNode[]): Check {
  return (place, walk) => {
    const { valid, unknown, mismatches } = judgeBranches(branches, place, walk, 1);
    if (valid > 0) return "valid";
    if (unknown > 0) return "unknown";
    return [...mismatches, ...mismatch(place, "must match a schema in anyOf")];
  };
}

function checkOneOf(branches: readonly SchemaNode[]): Check {
  return (place, walk) => {
    const { valid, unknown, mismatches } = judgeBranches(branches, place, walk, 2);
    if (valid === 1 && unknown === 0) return "valid";
    if (valid < 2 && unknown > 0) return "unknown";
    return [...mismatches, ...mismatch(place, "must match exactly one schema in oneOf")];
  };
}

/** Counts verdicts until so many branches are valid. */
function judgeBranches(branches: readonly SchemaNode[], place: Place, walk: Walk, enough: number) {
  const mismatches: Mismatch[] = [];
  let valid = 0;
  let unknown = 0;
  for (const branch of branches) {
    const verdict = judge(branch, place, walk);
    if (verdict === "valid") valid += 1;
    else if (verdict === "unknown") unknown += 1;
    else mismatches.push(...verdict.slice(0, MAX_MISMATCHES - 1 - mismatches.length));
    if (valid >= enough) break;
  }
  return { valid, unknown, mismatches };
}

function checkAllOf(branches: readonly SchemaNode[]): Check {
  return (place, walk) => firstMismatch(branches, (branch) => judge(branch, place, walk));
}

/** Checks one after the other until one is invalid. */
function firstMismatch<T>(items: Iterable<T>, judgeItem: (item: T) => Verdict): Verdict {
  let verdict: Verdict = "valid";
  for (const item of items) {
    const found = judgeItem(item);
    if (isMismatch(found)) return found;
    if (found === "unknown") verdict = found;
  }
  return verdict;
}

function readPrefixItems(value: unknown, reading: Reading): Check {
  if (!Array.isArray(value) || value.length === 0) throw new SchemaError("has prefixItems without schemas");
  const nodes = value.map(reading.readMember);
  return (place, walk) => {
    const items = place.value;
    if (!Array.isArray(items)) return "valid";
    return firstMismatch(nodes.slice(0, items.length).entries(), ([at, node]) =>
      judgeMember(node, place, { key: at, value: items[at] }, walk),
    );
  };
}

function readItems(value: unknown, reading: Reading): Check {
  const { prefixItems } = reading.schema;
  const start = Array.isArray(prefixItems) ? prefixItems.length : 0;
  const node = reading.readMember(value);
  return (place, walk) => {
    const items = place.value;
    if (!Array.isArray(items)) return "valid";
    if (value === false && items.length > start)
      return mismatch(place, `must NOT have more than ${start} items`);
    return judgeItems(node, place, { items, from: start }, walk);
  };
}

function readRequired(names: unknown): Check {
  if (!isListOfNames(names)) throw new SchemaError("has a required that is not a list of names");
  return (place, walk) => {
    const { value } = place;
    if (!isRecord(value)) return "valid";
    spend(walk, names.length);
    const missing = names.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? "valid" : mismatch(place, `must have required property '${missing}'`);
  };
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function readPropertyNames(value: unknown, reading: Reading): Check {
  const node = reading.readMember(value);
  return (place, walk) => {
    if (!isRecord(place.value)) return "valid";
    const verdict = firstMismatch(listKeys(place.value, walk), (name) =>
      // A property name has no JSON pointer of its own: the mismatch is reported for the object.
      judge(node, { ...place, value: name, verdicts: null, children: null }, walk),
    );
    return isMismatch(verdict) ? [...verdict, ...mismatch(place, "property name must be valid")] : verdict;
  };
}

function readAdditionalProperties(value: unknown, reading: Reading): Check {
  const { properties, patternProperties } = reading.schema;
  const known = new Set(isRecord(properties) ? Object.keys(properties) : []);
  const hint = listKnown([...known]);
  const node = reading.readMember(value);
  // Patterns are not evaluated here, so it is unknown which names are left for this keyword.
  if (patternProperties !== undefined) return () => "unknown";
  return (place, walk) => {
    const { value: members } = place;
    if (!isRecord(members)) return "valid";
    const others = listKeys(members, walk).filter((name) => !known.has(name));
    if (value === false) {
      const [first] = others;
      return first === undefined ? "valid" : mismatch(place, describeUnknownProperty(first, hint));
    }
    return firstMismatch(others, (name) =>
      judgeMember(node, place, { key: name, value: members[name] }, walk),
    );
  };
}

function readProperties(value: unknown, reading: Reading): Check {
  if (!isRecord(value)) throw new SchemaError("has properties that are not an object");
  const nodes = Object.entries(value).map(([name, schema]) => [name, reading.readMember(schema)] as const);
  return (place, walk) => {
    const { value: members } = place;
    if (!isRecord(members)) return "valid";
    spend(walk, nodes.length);
    return firstMismatch(nodes, ([name, node]) =>
      Object.hasOwn(members, name)
        ? judgeMember(node, place, { key: name, value: members[name] }, walk)
        : "valid",
    );
  };
}

function listKeys(value: object, walk: Walk): readonly string[] {
  const keys = Object.keys(value);
  spend(walk, keys.length);
  return keys;
}
