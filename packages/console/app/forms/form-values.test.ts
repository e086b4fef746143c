import { expect, test } from "vitest";
import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import { MARKETPLACE_API } from "@platform/contract/platform-api/marketplace";
import {
  areSame,
  findErrors,
  listFieldNames,
  listSaved,
  pickChanged,
  sortByField,
  toBody,
  toFields,
  toNumber,
  withoutEmpty,
} from "./form-values.ts";

const SCHEMA = APPLICATIONS_API.createApplication.body;
const FIELDS = new Set(["name"]);

test("a body that the operation accepts has no errors", () => {
  expect(findErrors(SCHEMA, { name: "Solver" })).toEqual([]);
});

test("of what was saved, a form takes what it did not hold, but at no field that was changed since it was sent", () => {
  const sent = { name: "a", policy: { limit: "090", codes: ["x"], days: "" } };
  const saved = { name: "a", policy: { limit: 90, codes: ["x", "y"], days: 7 } };
  expect(listSaved(sent, sent, saved)).toEqual([
    ["policy.limit", 90],
    ["policy.codes", ["x", "y"]],
    ["policy.days", 7],
  ]);
  const present = { name: "b", policy: { limit: "0901", codes: ["x"], days: "" } };
  expect(listSaved(present, sent, saved)).toEqual([
    ["policy.codes", ["x", "y"]],
    ["policy.days", 7],
  ]);
});

test("what a form holds is saved where each field is, in whatever order, and one that is not there is empty", () => {
  const held = { name: "a", revision: "", limits: { perMonth: 9, perMinute: "" } };
  expect(areSame(held, { limits: { perMonth: 9, perMinute: null }, name: "a" })).toBe(true);
  expect(areSame(held, { name: "a", limits: { perMonth: "9" } })).toBe(false);
  expect(areSame(held, { name: "a", limits: { perMonth: 9 }, description: "b" })).toBe(false);
  expect(areSame({ ...held, description: "b" }, held)).toBe(false);
});

test("what was not changed in a form is not sent, nor is what is new left out", () => {
  const begun = { name: "a", slug: "a", tags: ["x"], version: null };
  expect(pickChanged({ name: "b", slug: "a", tags: ["x"], version: null }, begun)).toEqual({ name: "b" });
  expect(pickChanged({ name: "a", tags: ["y"], planId: "p" }, begun)).toEqual({ tags: ["y"], planId: "p" });
});

test("a key that a body, or an object in it, does not know is named", () => {
  const { body } = MARKETPLACE_API.putListing;
  const listing = { title: "Sums", exampleInput: { data: {}, foo: 1 } };
  expect(sortByField(findErrors(body, listing), new Set(["title", "exampleInput"]))).toEqual({
    exampleInput: 'Has an unknown key "foo"',
  });
  expect(sortByField(findErrors(SCHEMA, { name: "a", more: 1 }), FIELDS)).toEqual({
    "": 'Has an unknown key "more"',
  });
});

test("what is missing is told at its field", () => {
  expect(sortByField(findErrors(SCHEMA, toBody({ name: "" })), FIELDS)).toEqual({ name: "Is required" });
});

test("what the server says of a field is shown at that field, and of anything else above the form", () => {
  const errors = [
    { path: "/name", message: "must be one line" },
    { path: "#/name", message: "a second one is not shown" },
    { path: "/other/deep", message: "is not known" },
  ];
  expect(sortByField(errors, FIELDS)).toEqual({ name: "Must be one line", "": "other.deep is not known" });
});

test("an error within a field is shown at the field", () => {
  expect(sortByField([{ path: "/scopes/1", message: "is not one of them" }], new Set(["scopes"]))).toEqual({
    scopes: "Is not one of them",
  });
});

test("a field within a part of the body gets its own errors", () => {
  const names = new Set(listFieldNames({ name: "", tags: ["a"], limits: { perMonth: "" } }));
  expect([...names]).toEqual(["name", "tags", "limits.perMonth"]);
  expect(sortByField([{ path: "/limits/perMonth", message: "must be >= 1" }], names)).toEqual({
    "limits.perMonth": "Must be at least 1",
  });
});

test("what is left empty is not sent, nor a part of which nothing is filled in", () => {
  const values = { a: "", b: 0, c: null, d: [], e: { f: "", g: { h: [] } }, i: { j: "", k: ["l"] } };
  expect(withoutEmpty(values)).toEqual({ b: 0, c: null, i: { k: ["l"] } });
});

test("what is null is an empty field", () => {
  expect(toFields({ a: null, b: 0, c: { d: null, e: [] } })).toEqual({ a: "", b: 0, c: { d: "", e: [] } });
});

test.each([
  ["0.50", 0.5],
  ["007", 7],
  ["12345678901234", 12_345_678_901_234],
  [1.5, 1.5],
  ["", ""],
  ["-", "-"],
])("in a field of numbers, %j is %j", (entered, number) => {
  expect(toNumber(entered)).toBe(number);
});
