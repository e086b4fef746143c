import { expect, test } from "vitest";
import { describeType, listMembers } from "./schema-rows.ts";

test("members are listed with their place, their type, and whether they are needed", () => {
  const schema = {
    type: "object",
    properties: {
      data: { $ref: "#/$defs/Tours", description: "What to plan" },
      "a.b": { enum: ["x", 1] },
    },
    required: ["data"],
    $defs: {
      Tours: { type: "object", properties: { stops: { type: "array", items: { type: "integer" } } } },
    },
  };
  expect(listMembers(schema)).toEqual([
    { path: "data", type: "Tours", isRequired: true, description: "What to plan" },
    { path: "data.stops", type: "array of integer", isRequired: false, description: "" },
    { path: '"a.b"', type: '"x", 1', isRequired: false, description: "" },
  ]);
});

test("a schema that contains itself many times over gives no more rows than are read", () => {
  const members = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [`m${at}`, { $ref: "#/$defs/A" }]),
  );
  const schema = { $ref: "#/$defs/A", $defs: { A: { properties: members } } };
  expect(listMembers(schema)).toHaveLength(200);
});

test.each([
  [{ type: "integer" }, "integer"],
  [{ type: ["string", "null"] }, "string or null"],
  [{ anyOf: [{ type: "number" }, { const: null }] }, "number or null"],
  [{ type: "object", additionalProperties: { type: "integer" } }, "object of integer"],
  [true, "any"],
  [{ enum: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, "1, 2, 3, 4, 5, 6, 7, 8, ..."],
])("the type of %j is %s", (schema, words) => {
  expect(describeType(schema)).toBe(words);
});
