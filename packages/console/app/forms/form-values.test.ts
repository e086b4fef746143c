import { expect, test } from "vitest";
import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import { findErrors, sortByField, toBody } from "./form-values.ts";

const SCHEMA = APPLICATIONS_API.createApplication.body;
const FIELDS = new Set(["name"]);

test("a body that the operation accepts has no errors", () => {
  expect(findErrors(SCHEMA, { name: "Solver" })).toEqual([]);
});

test("what is missing is told at its field", () => {
  expect(sortByField(findErrors(SCHEMA, toBody({ name: "" })), FIELDS)).toEqual({ name: "Is needed" });
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
