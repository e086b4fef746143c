import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toPlainSchema } from "./plain-schema.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("kept are", () => {
  test("types, lists, maps, enumerations, choices and references", () => {
    const properties = {
      cities: { type: "array", items: { type: "array", items: { type: "number" } } },
      names: { type: "object", additionalProperties: { type: "integer" } },
      mode: { type: "string", enum: ["fast", "slow one"] },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
      node: { $ref: "#/$defs/Node" },
    };
    const Node = object({ next: { $ref: "#/$defs/Node" } }, { required: ["next"] });
    expect(toPlainSchema(object(properties, { required: ["cities"], $defs: { Node, Unused: {} } }))).toEqual({
      ...object(properties, { required: ["cities"] }),
      $defs: { Node },
    });
  });

  test("a root that is a reference to a definition", () => {
    const Data = object({ a: { type: "string" } });
    expect(toPlainSchema({ $ref: "#/$defs/Data", $defs: { Data } })).toEqual({ ...Data, required: [] });
  });

  test("texts without what could end a comment or a literal", () => {
    const description = 'Größe in m² (1.5; "x"), \\u002a\\u002f */ // # <b> `y`\r\n\u2028z';
    expect(toPlainSchema(object({ a: {} }, { description }))?.["description"]).toBe(
      "Größe in m² (1.5; x ), u002a u002f b y z",
    );
  });
});

describe("untyped are", () => {
  test.each(['a"b', "a\\b", "a*b", "a\nb", "ä", "", " a", "1", "from_dict", "fromDict", "OBJ", "__proto__"])(
    "objects with a member %j",
    (name) => {
      // Parsed, as the stored schema is: a literal's `__proto__` would be no member.
      const properties = JSON.parse(`{${JSON.stringify(name)}: {"type": "string"}}`) as object;
      const untyped = { type: "object", additionalProperties: {} };
      expect(toPlainSchema(object({ child: object(properties) }))).toEqual(
        object({ child: untyped }, { required: [] }),
      );
    },
  );

  test("members whose choices cannot be told apart", () => {
    const anyOf = [object({ a: {} }), object({ b: {} })];
    expect(toPlainSchema(object({ a: { anyOf } }))).toEqual(object({ a: {} }, { required: [] }));
  });

  test("schemas without members, too many or too deep ones", () => {
    expect(toPlainSchema({ type: "object" })).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`m${index}`, {}]));
    expect(toPlainSchema(object(many))).toBeNull();
    let deep: object = {};
    for (let depth = 0; depth < 50; depth += 1) deep = object({ a: deep });
    expect(toPlainSchema(deep as Record<string, unknown>)).toBeNull();
  });
});

test("the members of an object with several types, in objects with several types, are not read for all of them", () => {
  let reads = 0;
  const names = Array.from({ length: 1_000 }, (_, index) => [`m${index}`, true]);
  const counted = { ownKeys: (target: object) => ((reads += 1), Reflect.ownKeys(target)) };
  const properties = new Proxy(Object.fromEntries([...names, ["*", true]]) as object, counted);
  const type = ["object", "string", "integer", "number", "boolean", "null"];
  let schema: object = { type, properties };
  for (let depth = 0; depth < 3; depth += 1) schema = { type, properties: { a: schema } };
  expect(toPlainSchema(object({ a: schema }))).toBeNull();
  const often = Array.from({ length: 500 }, () => "object");
  expect(toPlainSchema(object({ a: { type: often, properties } }))).toEqual(
    object({ a: {} }, { required: [] }),
  );
  expect(reads).toBeLessThan(20);
});

test("whatever the schema is, nothing is thrown and no text is left that could end a comment or a literal", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom("object", "array", "string", "#/$defs/a", "a", '*/ \\u002a"""'),
  );
  fc.assert(
    fc.property(text, text, text, text, (one, other, name, kind) => {
      const inner = object({ [other]: { enum: [one, other] }, [name]: { $ref: one } }, { description: kind });
      const items = { type: kind, properties: inner, items: inner, title: one, const: other };
      const properties = { [name]: items, list: { type: "array", items }, either: { anyOf: [inner, items] } };
      const given = object(properties, {
        description: one,
        required: [name],
        $defs: { [name]: inner, a: items },
      });
      const plain = toPlainSchema(given);
      const texts: string[] = [];
      JSON.stringify(plain, (key, value: unknown) => {
        texts.push(key);
        if (typeof value === "string" && key !== "$ref") texts.push(value);
        return value;
      });
      expect(texts.join("")).not.toMatch(/[\\"'`*#<>\n\r\u2028\u2029\u0085\p{Cf}\p{Cs}]/u);
    }),
  );
});
