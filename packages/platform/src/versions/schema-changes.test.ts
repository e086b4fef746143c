import { describe, expect, test } from "vitest";
import { createStepBudget, findBreakingChange, listBreakingChanges } from "./schema-changes.ts";

function input(data: Record<string, unknown>): Record<string, unknown> {
  return { type: "object", properties: { data: { type: "object", ...data } } };
}

const tree = (type: string) => ({
  type: "object",
  properties: { data: { $ref: "#/$defs/Node" } },
  $defs: {
    Node: {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#/$defs/Node" } }, value: { type } },
    },
  },
});

const knot = (type: string) => {
  const links = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`p${index}`, { $ref: "#/$defs/Knot" }]),
  );
  const union = { anyOf: Array.from({ length: 200 }, () => ({ $ref: "#/$defs/Union" })) };
  return {
    $ref: "#/$defs/Knot",
    $defs: { Knot: { type: "object", properties: { ...links, u: union, last: { type } } }, Union: union },
  };
};

test("of versions that are compared together, those with the same input use up nothing", () => {
  const numbers = Array.from({ length: 100 }, (_, index) => [`n${index}`, { type: "number" }] as const);
  const wide = () => input({ properties: Object.fromEntries(numbers) });
  const narrower = input({ properties: Object.fromEntries([...numbers, ["n0", { type: "string" }]]) });
  const budget = createStepBudget();
  for (let times = 0; times < 100; times += 1) expect(findBreakingChange(wide(), wide(), budget)).toBeNull();
  expect(findBreakingChange(wide(), narrower, budget)).toBe("/data/n0 was number and is now string");
});

describe("a change of a service's input", () => {
  const before = input({ properties: { a: { type: "integer" }, b: { type: "string" } }, required: ["a"] });

  test("is harmless when nothing changes or when something optional is added", () => {
    expect(findBreakingChange(before, before)).toBeNull();
    const wider = input({
      properties: { a: { type: "number" }, b: { type: "string" }, c: {} },
      required: ["a"],
    });
    expect(findBreakingChange(before, wider)).toBeNull();
    expect(findBreakingChange(before, null)).toBeNull();
    expect(findBreakingChange(null, null)).toBeNull();
  });

  test("breaks callers when a property becomes required, even where nothing was declared before", () => {
    const after = input({
      properties: { a: { type: "integer" }, b: { type: "string" } },
      required: ["a", "b"],
    });
    expect(findBreakingChange(before, after)).toBe("/data/b is now required");
    expect(findBreakingChange(null, { type: "object", required: ["data"] })).toBe("/data is now required");
  });

  test("breaks callers when a property is gone and others are refused, and only then", () => {
    const gone = { properties: { a: { type: "integer" } }, required: ["a"] };
    expect(findBreakingChange(before, input({ ...gone, additionalProperties: false }))).toBe(
      "/data/b is no longer accepted",
    );
    expect(findBreakingChange(before, input(gone))).toBeNull();
  });

  test("breaks callers when a type changes or becomes narrower", () => {
    const changed = input({ properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a"] });
    expect(findBreakingChange(before, changed)).toBe("/data/a was integer and is now string");
    const nullable = input({ properties: { a: { anyOf: [{ type: "integer" }, { type: "null" }] } } });
    const strict = input({ properties: { a: { type: "integer" } } });
    expect(findBreakingChange(nullable, strict)).toBe("/data/a was integer or null and is now integer");
    expect(findBreakingChange(strict, nullable)).toBeNull();
  });

  test("is found behind references, in lists, and in types that contain themselves", () => {
    expect(findBreakingChange(tree("string"), tree("string"))).toBeNull();
    expect(findBreakingChange(tree("string"), tree("integer"))).toContain(
      "/data/value was string and is now integer",
    );
  });

  test("is listed with all others, up to a bound; what is of another type has no parts to compare", () => {
    const after = {
      type: "object",
      properties: {
        data: {
          type: "object",
          properties: { a: { type: "object", required: ["x"] }, c: {}, d: {} },
          required: ["a", "c", "d"],
          additionalProperties: false,
        },
      },
    };
    const all = [
      "/data/c is now required",
      "/data/d is now required",
      "/data/b is no longer accepted",
      "/data/a was integer and is now object",
    ];
    expect(listBreakingChanges(before, after, 50)).toEqual(all);
    expect(listBreakingChanges(before, after, 2)).toEqual(all.slice(0, 2));
    expect(listBreakingChanges(before, before, 50)).toEqual([]);
  });

  test("is not looked for any more when the comparisons of one request have taken all steps", () => {
    const budget = createStepBudget();
    const left = budget.steps;
    expect(findBreakingChange(tree("string"), tree("integer"), budget)).not.toBeNull();
    expect(budget.steps).toBeLessThan(left);
    budget.steps = 0;
    expect(findBreakingChange(tree("string"), tree("integer"), budget)).toBeNull();
  });

  test("is judged in no time however entangled the schema is", () => {
    expect(findBreakingChange(knot("string"), knot("string"))).toBeNull();
    expect(findBreakingChange(knot("string"), knot("integer"))).toBe("/last was string and is now integer");
  });
});
