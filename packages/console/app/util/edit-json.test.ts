import { expect, test } from "vitest";
import { editJson } from "./edit-json.ts";

const compact = (text: string) => text.replaceAll(/\s/gu, "");

test("a part is replaced, and all other numbers keep their digits", () => {
  const text = '{"a": 12345678901234567890, "b": {"c": [1e400, 2]}}';
  expect(compact(editJson(text, ["b", "c", 1], "0.10"))).toBe(
    '{"a":12345678901234567890,"b":{"c":[1e400,0.10]}}',
  );
});

test("what is on the way and not there is made", () => {
  expect(compact(editJson("{}", ["data", "tours", 0, "name"], '"x"'))).toBe(
    '{"data":{"tours":[{"name":"x"}]}}',
  );
  expect(compact(editJson('{"data": 1}', ["data", "a"], "2"))).toBe('{"data":{"a":2}}');
});

test("a part is taken out: a member, or an item, behind which the others move up", () => {
  expect(compact(editJson('{"a": 1, "b": 2}', ["a"], null))).toBe('{"b":2}');
  expect(compact(editJson("[1, 2, 3]", [1], null))).toBe("[1,3]");
});

test("a name is a name, whatever it says", () => {
  expect(compact(editJson("{}", ["__proto__"], "1"))).toBe('{"__proto__":1}');
  expect(compact(editJson('{"a\\"b": 1}', ['a"b'], "2"))).toBe('{"a\\"b":2}');
});

test("one value a line, as it is laid out elsewhere", () => {
  expect(editJson('{"a":[1],"b":{}}', ["c"], "true")).toBe(
    '{\n  "a": [\n    1\n  ],\n  "b": {},\n  "c": true\n}',
  );
});

test("what is no JSON stays", () => {
  expect(editJson("{", ["a"], "1")).toBe("{");
});
