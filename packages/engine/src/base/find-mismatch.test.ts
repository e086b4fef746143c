import { Type } from "typebox";
import { expect, test } from "vitest";
import { findMismatch } from "./find-mismatch.ts";

const closed = Type.Object({ days: Type.Optional(Type.Integer()) }, { additionalProperties: false });
const schema = Type.Object({ name: Type.String(), more: Type.Optional(closed) });

test.each([
  [{ name: "a", more: { days: 1 }, further: 1 }, null],
  [{ name: 1 }, "/name must be string"],
  [{}, "/ must have required properties name"],
  [{ name: "a", more: { color: 1 } }, "/more/color is not known"],
  [[], "/ must be object"],
])("where %j differs from its schema is said by name: %s", (value, expected) => {
  expect(findMismatch(schema, value)).toBe(expected);
});
