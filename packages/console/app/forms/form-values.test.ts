import { expect, test } from "vitest";
import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import { findErrors, listFieldNames, sortByField, toBody, toFields, withoutEmpty } from "./form-values.ts";

const SCHEMA = APPLICATIONS_API.createApplication.body;
const FIELDS = new Set(["name"]);

test("a body that the operation accepts has no errors", () => {
  expect(findErrors(SCHEMA, { name: "Solver" })).toEqual([]);
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
