import { expect, test } from "vitest";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { parseExact } from "../util/exact-json.ts";
import { listFields } from "./list-fields.ts";

const STRING = { type: "string" };

function list(schema: Readonly<Record<string, unknown>>, text = "{}") {
  return listFields(schema, parseExact(text));
}

/** Path and control of each field. */
function outline(schema: Readonly<Record<string, unknown>>, text?: string) {
  return list(schema, text).fields.map(({ path, control: { kind } }) => `${path.join(".")} ${kind}`);
}

test("each member is a field with what stands in the value, digit by digit", () => {
  const schema = {
    required: ["count"],
    properties: { count: { type: "integer", description: "How many" }, name: { ...STRING, default: "x" } },
  };
  expect(list(schema, '{"count": 12345678901234567890}').fields).toMatchObject([
    {
      path: ["count"],
      label: "count",
      description: "How many",
      isRequired: true,
      text: "12345678901234567890",
    },
    { path: ["name"], isRequired: false, text: null, fallback: '"x"' },
  ]);
});

test("choices and what is used by default keep the digits that the answer had", () => {
  const schema = parseExactNumbers(
    `{"properties": {"seed": {"enum": [12345678901234567890, 1e400]}, "far": {"type": "number", "default": 12345678901234567891},
      "list": {"type": "array", "items": {"default": 9007199254740993}}}}`,
  );
  expect(list(schema as Readonly<Record<string, unknown>>).fields).toMatchObject([
    { control: { kind: "choice", options: ["12345678901234567890", "1e400"] } },
    { fallback: "12345678901234567891" },
    { control: { kind: "list", added: "9007199254740993" } },
  ]);
});

test("objects are groups, arrays lists of what the value has, words choices, and anything else JSON", () => {
  const schema = {
    properties: {
      place: { type: "object", properties: { x: { type: "number" } } },
      names: { type: "array", items: STRING },
      colour: { enum: ["red", "blue"] },
      flag: { type: "boolean" },
      any: {},
      either: { anyOf: [STRING, { type: "number" }] },
      maybe: { anyOf: [{ type: "number" }, { type: "null" }] },
    },
  };
  expect(outline(schema, '{"place": {}, "names": ["a", "b"]}')).toEqual([
    "place group",
    "place.x number",
    "names list",
    "names.0 text",
    "names.1 text",
    "colour choice",
    "flag choice",
    "any json",
    "either json",
    "maybe number",
  ]);
});

test("an object that may be absent shows its members when it is there", () => {
  const schema = { properties: { place: { type: "object", properties: { x: STRING } } } };
  expect(outline(schema)).toEqual(["place group"]);
  expect(outline({ ...schema, required: ["place"] })).toEqual(["place group", "place.x text"]);
});

test("a value of another type than the schema's is shown as JSON, but for texts where a number is meant", () => {
  const schema = {
    properties: { place: { type: "object", properties: { x: STRING } }, n: { type: "number" } },
  };
  expect(outline(schema, '{"place": [1], "n": "one"}')).toEqual(["place json", "n number"]);
});

test("references lead to definitions of the document, and those that lead in circles end", () => {
  const tree = { type: "object", required: ["left"], properties: { left: { $ref: "#/$defs/tree" } } };
  const schema = {
    required: ["tree", "loop", "away"],
    properties: {
      tree: { $ref: "#/$defs/tree" },
      loop: { $ref: "#/$defs/loop" },
      away: { $ref: "https://elsewhere.example/schema.json" },
    },
    $defs: { tree, loop: { $ref: "#/$defs/loop" } },
  };
  const fields = outline(schema);
  expect(fields.slice(-2)).toEqual(["loop json", "away json"]);
  expect(fields.length).toBeLessThan(12);
});

test("the form of a schema without end is cut, and says so", () => {
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`field${at}`, STRING]));
  const { fields, isWhole } = list({ properties });
  expect([fields.length, isWhole]).toEqual([200, false]);
  const wide = { type: "object", required: ["a", "b", "c", "d"], properties: {} };
  const each = { $ref: "#/$defs/wide" };
  Object.assign(wide.properties, { a: each, b: each, c: each, d: each });
  expect(list({ ...wide, $defs: { wide } }).fields).toHaveLength(200);
});

test("names of the language itself are names of members", () => {
  const schema = JSON.parse(
    '{"properties": {"__proto__": {"type": "constructor"}, "toString": {"type": "string"}}}',
  );
  expect(outline(schema)).toEqual(["__proto__ json", "toString text"]);
});

test("what a definition says at length is not said again by each field that refers to it", () => {
  const long = "x".repeat(6_000);
  const each = { $ref: "#/$defs/long" };
  const schema = (definition: object) => ({ properties: { a: each, b: each }, $defs: { long: definition } });
  expect(list(schema({ type: "string", default: long })).fields.map(({ fallback }) => fallback)).toEqual([
    null,
    null,
  ]);
  expect(outline(schema({ enum: [long, "short"] }))).toEqual(["a json", "b json"]);
});
