import { Problem } from "@platform/contract/problems";
import { describe, expect, test } from "vitest";
import { acceptStartBody } from "../executions/start-body.ts";
import { compileMember } from "./compile.ts";
import { createInputValidator, findUncheckable } from "./input-validator.ts";
import type { Schema } from "./reading.ts";
import { createPlace, judge, MAX_STEPS, WalkTooLong } from "./schema-node.ts";

/** What pydantic makes of `class L: next: L | M | None` and `class M: next: L | M | None; z: int = 0`. */
const NEXT = {
  anyOf: [{ $ref: "#/$defs/L" }, { $ref: "#/$defs/M" }, { type: "null" }],
  title: "Next",
};
const LINKED: Schema = {
  type: "object",
  properties: { data: { $ref: "#/$defs/L" } },
  $defs: {
    L: { type: "object", title: "L", properties: { next: NEXT }, required: ["next"] },
    M: {
      type: "object",
      title: "M",
      properties: { next: NEXT, z: { type: "integer", default: 0 } },
      required: ["next"],
    },
  },
};

function describeData(data: unknown, definitions: Schema = {}): Schema {
  return { type: "object", properties: { data }, $defs: definitions };
}

/** `A0 = {}`, `A(k) = allOf [A(k-1), A(k-1)]`: 2^k visits for who follows each reference. */
function doubling(levels: number): Schema {
  const definitions: Record<string, unknown> = { A0: {} };
  for (let level = 1; level <= levels; level++) {
    const below = { $ref: `#/$defs/A${level - 1}` };
    definitions[`A${level}`] = { allOf: [below, below] };
  }
  return describeData({ $ref: `#/$defs/A${levels}` }, definitions);
}

function nest(levels: number, end: unknown): unknown {
  let value = end;
  for (let level = 0; level < levels; level++) value = { next: value };
  return value;
}

/** The problem that a caller gets; null where the body goes to the run. */
function check(schema: Schema, data: unknown): Problem | null {
  try {
    createInputValidator()("version", schema, acceptStartBody(Buffer.from(JSON.stringify({ data }))));
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function countSteps(schema: Schema, data: unknown): number {
  const node = compileMember(schema, "data");
  if (node === null) throw new Error("the schema says nothing of data");
  const walk = { steps: 0, depth: 0 };
  judge(node, createPlace(data, null, "data"), walk);
  return walk.steps;
}

function createMembers(count: number): Schema {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 1]));
}

describe("the check at the door costs little whatever the schema and the body", () => {
  test("sixty nested models of two that refer to each other are refused at once", () => {
    const problem = check(LINKED, nest(60, 5));
    expect(problem?.code).toBe("INVALID_INPUT");
    expect(problem?.errors?.at(-1)?.message).toBe("must match a schema in anyOf.");
    expect(check(LINKED, nest(60, null))).toBeNull();
  });

  test("a body twice as deep takes about twice the steps", () => {
    expect(countSteps(LINKED, nest(120, 5))).toBeLessThan(2.5 * countSteps(LINKED, nest(60, 5)));
  });

  test("forty schemas that each name the one before twice cost a few steps", () => {
    expect(countSteps(doubling(40), {})).toBeLessThan(500);
    expect(check(doubling(40), {})).toBeNull();
  });

  test.each<readonly [string, unknown]>([
    ["an enum of many values", { enum: [...Array.from({ length: 15_000 }, () => []), {}] }],
    ["a constant with many members", { anyOf: [{ const: createMembers(4_000) }, {}] }],
  ])("what %s costs for each value counts, and then the run decides", (_, items) => {
    const schema = describeData({ properties: { list: { items } } });
    expect(() => countSteps(schema, { list: Array.from({ length: 500 }, () => ({})) })).toThrow(WalkTooLong);
  });

  test("a type that is named again and again would be tested as often: such a schema is not checked", () => {
    const schema = describeData({ type: [...Array.from({ length: 5_000 }, () => "string"), "object"] });
    expect(findUncheckable(schema)).toBe("names a type twice");
    expect(check(schema, {})).toBeNull();
  });

  test("a body that would take too many steps goes to the run", () => {
    const wide = describeData({
      additionalProperties: {
        items: { allOf: Array.from({ length: 20 }, () => ({ items: {}, minItems: 0 })) },
      },
    });
    const data = { list: Array.from({ length: 60_000 }, () => []) };
    expect(() => countSteps(wide, data)).toThrow(WalkTooLong);
    expect(check(wide, data)).toBeNull();
    const undecided: string[] = [];
    const validator = createInputValidator((versionId) => undecided.push(versionId));
    const body = acceptStartBody(Buffer.from(JSON.stringify({ data })));
    for (let time = 0; time < 3; time++) validator("wide", wide, body);
    expect(undecided).toEqual(["wide"]);
    expect(
      countSteps(describeData({ properties: { list: { items: { type: "array" } } } }), data),
    ).toBeLessThan(MAX_STEPS / 4);
  });

  test("a body as deep as may be does not overflow the stack", () => {
    let link: unknown = { $ref: "#/$defs/A" };
    for (let level = 0; level < 20; level++) link = { allOf: [link] };
    const deep = describeData({ $ref: "#/$defs/A" }, { A: { additionalProperties: link } });
    expect(check(deep, nest(190, null))).toBeNull();
  });
});

describe("a schema that the door cannot check stops no start", () => {
  test.each<[string, Schema, string]>([
    [
      "a limit that is a text",
      describeData({ properties: { n: { minimum: "a" } } }),
      "a limit that is not a number",
    ],
    [
      "multipleOf 0",
      describeData({ properties: { n: { multipleOf: 0 } } }),
      "multipleOf that is not a positive",
    ],
    ["an unknown type", describeData({ properties: { n: { type: "decimal" } } }), "an unknown type"],
    ["a reference to nothing", describeData({ $ref: "#/$defs/Missing" }), "leads nowhere"],
    ["a reference to elsewhere", describeData({ $ref: "https://example.com/schema" }), "leads nowhere"],
    ["a subschema that is a number", describeData({ items: 5 }), "neither an object nor a boolean"],
    ["an anyOf that is an object", describeData({ anyOf: {} }), "an anyOf without schemas"],
    ["required that is a text", describeData({ required: "n" }), "not a list of names"],
    [
      "itself as a branch",
      describeData({ $ref: "#/$defs/A" }, { A: { anyOf: [{ $ref: "#/$defs/A" }, {}] } }),
      "refers to itself",
    ],
    ["7,000 levels", describeData(nestSchema(7_000)), "deeper than 100 levels"],
    ["300,000 characters", describeData({ enum: ["x".repeat(300_000)] }), "larger than"],
  ])("%s", (_what, schema, reason) => {
    expect(check(schema, { n: 5, list: [1, [2]] })).toBeNull();
    expect(findUncheckable(schema)).toContain(reason);
  });

  test("a chain of a thousand references is read without recursion, and each of its links once", () => {
    const definitions: Record<string, unknown> = { A0: { type: "string" } };
    for (let link = 1; link <= 1_000; link++) definitions[`A${link}`] = { $ref: `#/$defs/A${link - 1}` };
    for (let link = 1; link <= 500; link++)
      definitions[`B${link}`] = { allOf: [{ $ref: `#/$defs/${link === 1 ? "A1000" : `B${link - 1}`}` }] };
    const schema = describeData({ properties: { n: { $ref: "#/$defs/B500" } } }, definitions);
    expect(findUncheckable(schema)).toBeNull();
    expect(check(schema, { n: 5 })?.errors).toEqual([{ path: "/data/n", message: "must be string." }]);
  });

  test("names of Object's own members are ordinary names", () => {
    const schema = describeData({
      properties: { constructor: { type: "string" }, __proto__: { type: "string" } },
      required: ["toString"],
    });
    expect(check(schema, {})?.errors).toEqual([
      { path: "/data", message: "must have required property 'toString'." },
    ]);
    expect(check(schema, { toString: 1 })).toBeNull();
  });
});

function nestSchema(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}

describe("what the schema says beyond the door's check is left to the run", () => {
  const byPattern = [
    { type: "string", pattern: "^a" },
    { type: "string", pattern: "^b" },
  ];
  test.each<[string, unknown, unknown]>([
    ["branches that differ by pattern", { oneOf: byPattern }, "b1"],
    ["a negation", { not: { type: "string" } }, "text"],
    ["a condition", { if: { type: "string" }, else: false }, 5],
    [
      "further names that a pattern may take",
      { patternProperties: { "^x-": {} }, additionalProperties: false },
      { "x-a": 1 },
    ],
    ["items of any order", { contains: { type: "string" } }, [1]],
    ["a multiple that only rounding finds", { multipleOf: 0.1 }, 0.3],
    ["a schema with a name of its own", { $id: "other", type: "string" }, 5],
  ])("%s", (_what, member, value) => {
    expect(check(describeData({ properties: { value: member } }), { value })).toBeNull();
  });
});

describe("the pointers and texts of a refusal", () => {
  test.each<[Schema, unknown, string]>([
    [
      { properties: { vector: { items: { type: "number" } } } },
      { vector: ["1"] },
      "/data/vector/0 must be number",
    ],
    [{ required: ["n"] }, {}, "/data must have required property 'n'"],
    [
      { properties: { a: {} }, additionalProperties: false },
      { b: 1 },
      "/data must not have the property b; known are a",
    ],
    [{ additionalProperties: { type: "integer" } }, { "a/b~c": 1.5 }, "/data/a~1b~0c must be integer"],
    [
      { properties: { n: { enum: ["a", { b: 1 }] } } },
      { n: "c" },
      "/data/n must be equal to one of the allowed values",
    ],
    [{ properties: { n: { const: [1] } } }, { n: [2] }, "/data/n must be equal to constant"],
    [{ properties: { n: { minimum: 1, maximum: 3 } } }, { n: 4 }, "/data/n must be <= 3"],
    [{ properties: { n: { exclusiveMinimum: 1 } } }, { n: 1 }, "/data/n must be > 1"],
    [{ properties: { n: { multipleOf: 2 } } }, { n: 3 }, "/data/n must be multiple of 2"],
    [{ properties: { n: { minLength: 2 } } }, { n: "😀" }, "/data/n must NOT have fewer than 2 characters"],
    [{ properties: { n: { maxItems: 1 } } }, { n: [1, 2] }, "/data/n must NOT have more than 1 items"],
    [
      { properties: { n: { prefixItems: [{}], items: false } } },
      { n: [1, 2] },
      "/data/n must NOT have more than 1 items",
    ],
    [{ properties: { n: { type: ["string", "null"] } } }, { n: 1 }, "/data/n must be string,null"],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, "/data must NOT have more than 1 characters"],
    [{ minProperties: 1 }, {}, "/data must NOT have fewer than 1 properties"],
    [
      { properties: { n: { oneOf: [{ type: "number" }, { type: "integer" }] } } },
      { n: 1 },
      "/data/n must match exactly one schema in oneOf",
    ],
    [{ properties: { n: false } }, { n: 1 }, "/data/n boolean schema is false"],
  ])("%j with %j", (schema, data, text) => {
    const [first] = check(describeData(schema), data)?.errors ?? [];
    expect(`${first?.path} ${first?.message}`).toBe(`${text}.`);
  });

  test("a long name is cut in the pointer", () => {
    const long = check(describeData({ additionalProperties: { type: "null" } }), { ["n".repeat(5_000)]: 1 });
    expect(long?.errors?.[0]?.path).toBe(`/data/${"n".repeat(100)}`);
  });
});
