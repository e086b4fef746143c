import { expect, test } from "vitest";
import { explainNoFields } from "./explain-no-fields.ts";

const DATA = { type: "object", properties: { n: { type: "integer" } } };
const SCHEMA = { type: "object", properties: { data: DATA } };

test.each([
  ["what its schema names", '{"data": {"n": 1}}', null],
  ["what is empty and has no field", '{"data": {"n": 1}, "params": {}}', null],
  [
    "more than its schema names",
    '{"dataRef": {"fileId": 1}}',
    'There is no field for "dataRef", so it is shown as JSON.',
  ],
  ["no object", "[1]", "Only an object can be shown in fields."],
  [
    "an object that is nested deeply",
    `${'{"data":'.repeat(600)}1${"}".repeat(600)}`,
    "It is nested too deeply to be shown in fields.",
  ],
  ["what is long", `{"data": {"n": ${"1".repeat(100_000)}}}`, "It is too long to be shown in fields."],
])("%s is in fields, or it is said why not", (_, text, said) => {
  expect(explainNoFields(SCHEMA, text)).toBe(said);
});

test("a name of any length is told by its beginning", () => {
  const text = `{"${"x".repeat(90_000)}": 1}`;
  expect(explainNoFields(SCHEMA, text)).toBe(
    `There is no field for "${"x".repeat(40)}…", so it is shown as JSON.`,
  );
});

test("a schema without fields is said to have none", () => {
  expect(explainNoFields({ type: "object" }, "{}")).toBe("Its schema names no fields.");
});
