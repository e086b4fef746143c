import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileMember } from "./compile.ts";
import { SchemaError } from "./reading.ts";
import type { Schema } from "./reading.ts";
import { createPlace, isMismatch, judge } from "./schema-node.ts";
import { IS_FULL_LENGTH } from "../testing/full-length.ts";

const NAMES = ["a", "b", "c"];
const DEFINITIONS = ["A", "B", "C"];
const VALUES = [0, 1, -1, 2.5, 3, "", "x", "xyz", "😀", true, false, null];

const name = fc.constantFrom(...NAMES);
const count = fc.nat({ max: 3 });
const limit = fc.constantFrom(-1, 0, 1, 2.5, 3);
const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
const body = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...VALUES),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
})).value;

function record(model: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record(model, { requiredKeys: [] });
}

const schema = fc.letrec<{ schema: unknown; leaf: unknown }>((tie) => {
  const branches = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  return {
    leaf: fc.oneof(
      fc.boolean(),
      fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
      record({ minimum: limit, exclusiveMaximum: limit, multipleOf: fc.constantFrom(1, 2, 3) }),
      record({ maximum: limit, exclusiveMinimum: limit, minLength: count, maxLength: count }),
      fc.record({ enum: fc.uniqueArray(body, { minLength: 1, maxLength: 3, comparator: "SameValueZero" }) }),
      fc.record({ const: body }),
      fc.record({ type, default: body }),
      fc.constantFrom(...DEFINITIONS).map((definition) => ({ $ref: `#/$defs/${definition}` })),
    ),
    schema: fc.oneof(
      { maxDepth: 3 },
      tie("leaf"),
      record({
        type: fc.constant("object"),
        properties: fc.dictionary(name, tie("schema"), { maxKeys: 3 }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: tie("schema"),
        propertyNames: tie("leaf"),
        minProperties: count,
        maxProperties: count,
      }),
      record({
        type: fc.constant("array"),
        prefixItems: branches,
        items: tie("schema"),
        minItems: count,
        maxItems: count,
      }),
      record({ anyOf: branches, oneOf: branches }),
      record({ allOf: branches, properties: fc.dictionary(name, tie("schema"), { maxKeys: 2 }) }),
    ),
  };
}).schema;

const documents = fc.record({ data: schema, A: schema, B: schema, C: schema });

type Ask = (value: unknown) => boolean | null;

/** Whether Ajv takes a value; null where it refuses the schema or does not come to an end. */
function createAjv(document: Schema): Ask {
  try {
    const ajv = new Ajv2020({ strict: false, logger: false });
    ajv.addSchema(document, "input");
    const validate = ajv.compile({ $ref: "input#/properties/data" });
    return (value) => validate(value);
  } catch {
    return () => null;
  }
}

/** Whether the door takes a value; null where it leaves it to the run. */
function createDoor(document: Schema): Ask {
  try {
    const node = compileMember(document, "data");
    return (value) => {
      if (node === null) return null;
      const verdict = judge(node, createPlace(value, null, "data"), { steps: 0, depth: 0 });
      return verdict === "unknown" ? null : !isMismatch(verdict);
    };
  } catch (error) {
    if (error instanceof SchemaError) return () => null;
    throw error;
  }
}

const RUNS = IS_FULL_LENGTH ? 500 : 150;

test("the door's verdict is Ajv's, for any schema and any body", () => {
  let agreed = 0;
  fc.assert(
    fc.property(documents, fc.array(body, { minLength: 1, maxLength: 8 }), (members, values) => {
      const { data, ...$defs } = members;
      // As JSON.parse makes them: no shared objects, no objects without a prototype.
      const document = parseAgain({ type: "object", properties: { data }, $defs }) as Schema;
      const askDoor = createDoor(document);
      const askAjv = createAjv(document);
      for (const value of values.map(parseAgain)) {
        const sent = JSON.stringify(value);
        const verdict = askDoor(value);
        expect(JSON.stringify(value)).toBe(sent);
        if (verdict === null) continue;
        expect(verdict).toBe(askAjv(value));
        agreed += 1;
      }
    }),
    { numRuns: RUNS },
  );
  expect(agreed).toBeGreaterThan(2 * RUNS);
});

function parseAgain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
