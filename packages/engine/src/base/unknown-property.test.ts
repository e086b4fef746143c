import { expect, test } from "vitest";
import { describeUnknownProperty, listKnown } from "./unknown-property.ts";

test("a property that is not known is named, with those that are", () => {
  expect(describeUnknownProperty("color", listKnown(["name", "days"]))).toBe(
    "must not have the property color; known are name, days",
  );
  expect(describeUnknownProperty("color", listKnown([]))).toBe("must not have the property color");
});

test("names that a sender or a schema has made long or many do not make the text long", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `${index}`.padEnd(5_000, "x"));
  const text = describeUnknownProperty("y".repeat(5_000), listKnown(names));
  expect(text).toContain(`property ${"y".repeat(50)}; known are 0xxx`);
  expect(text).toMatch(/x and 4980 more$/u);
  expect(text.length).toBeLessThan(1_500);
});
