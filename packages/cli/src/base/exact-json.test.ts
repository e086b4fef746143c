import { property, assert, json } from "fast-check";
import { expect, test } from "vitest";
import { createExactJson } from "./exact-json.ts";

const roundTrip = (text: string) => {
  const exact = createExactJson();
  return exact.stringify(exact.parse(text)).replaceAll(/\s/g, "");
};

test.each([
  '{"n":12345678901234567890}',
  "[1.0,-0.0,1e400,-1E+2,0.1234567890123456789,1e-05]",
  '{"123":"45.0","a\\"7.0":"\\\\","b":7.0}',
  '["1.0",{"":[]},null,true,-5]',
])("%s keeps every digit", (text) => {
  expect(roundTrip(text)).toBe(text);
});

test("ordinary numbers stay numbers", () => {
  expect(createExactJson().parse('{"a":[1,-2.5,"3.0"]}')).toEqual({ a: [1, -2.5, "3.0"] });
});

test("any JSON text means the same afterwards", () => {
  assert(
    property(json(), (text) => {
      const exact = createExactJson();
      expect(JSON.parse(exact.stringify(exact.parse(text)))).toEqual(JSON.parse(text));
    }),
  );
});

test("a string of many megabytes is no trouble", () => {
  const text = JSON.stringify({ text: '1.0\\"'.repeat(1_000_000) });
  const exact = createExactJson();
  expect(JSON.parse(exact.stringify(exact.parse(text)))).toEqual(JSON.parse(text));
});

test.each(['{"a":-}', "[01]", "[1.]", "-", '{"a":1'])("%s is refused as by JSON.parse", (text) => {
  expect(() => createExactJson().parse(text)).toThrow(SyntaxError);
});
