import { expect, test } from "vitest";
import { splitItems } from "./split-items.ts";

function split(text: string): readonly string[] {
  const items: string[] = [];
  for (const item of splitItems(Buffer.from(text)))
    if (item !== null) items.push(Buffer.from(item).toString());
  return items;
}

test("finds each item with its own bytes, whatever is in it", () => {
  expect(split('{"items":[{}]}')).toEqual(["{}"]);
  const items = [
    '{"data": {"a": [1, [2, {"b": 3}]], "c": "],}{["}}',
    "17",
    "null",
    '"a \\" ] , \\\\"',
    '[ {"x":1} , [] ]',
    '{"ü":"\\u0000"}',
  ];
  expect(split(` { "items" :\n[ ${items.join(" ,\t")} ] } \r\n`)).toEqual(items);
  expect(split('{"\\u0069tems":[1]}')).toEqual(["1"]);
});

test("does not judge items: one that is not JSON is found as well", () => {
  expect(split('{"items":[{"a":1} {"b":2}, nonsense, {]]}')).toEqual(['{"a":1} {"b":2}', "nonsense", "{]"]);
});

test.each([
  ["", "INVALID_JSON"],
  ["  ", "INVALID_JSON"],
  ["nope", "INVALID_INPUT"],
  ["?", "INVALID_JSON"],
  ["[]", "INVALID_INPUT"],
  ["{", "INVALID_JSON"],
  ["{}", "INVALID_INPUT"],
  ['{"items"', "INVALID_JSON"],
  ['{"items', "INVALID_JSON"],
  ['{"it\nems":[1]}', "INVALID_JSON"],
  ['{"items":', "INVALID_INPUT"],
  ['{"items":{}}', "INVALID_INPUT"],
  ['{"items":null}', "INVALID_INPUT"],
  ['{"items":[]}', "INVALID_INPUT"],
  ['{"items":[ ]}', "INVALID_INPUT"],
  ['{"items":[,1]}', "INVALID_JSON"],
  ['{"items":[1,]}', "INVALID_JSON"],
  ['{"items":[1,,2]}', "INVALID_JSON"],
  ['{"items":[1', "INVALID_JSON"],
  ['{"items":[{"a":1]', "INVALID_JSON"],
  ['{"items":[}]}', "INVALID_JSON"],
  ['{"items":["a]}', "INVALID_JSON"],
  ['{"items":[1]', "INVALID_JSON"],
  ['{"items":[1]}}', "INVALID_JSON"],
  ['{"items":[1]} x', "INVALID_JSON"],
  ['{"items":[1],"items":[2]}', "INVALID_INPUT"],
  ['{"items":[1],"other":2}', "INVALID_INPUT"],
  ['{"other":2,"items":[1]}', "INVALID_INPUT"],
])("refuses %j with %s", (text, code) => {
  expect(() => split(text)).toThrow(expect.objectContaining({ code }));
});

test("names a key that is not known by its pointer, cut", () => {
  expect(() => split(`{"a/b~${"x".repeat(500)}":1}`)).toThrow(
    expect.objectContaining({ errors: [{ path: `/a~1b~0${"x".repeat(96)}`, message: expect.any(String) }] }),
  );
});

const list = (count: number) => `{"items":[${Array.from({ length: count }, () => "{}").join(",")}]}`;

test("takes 1,000 items, and no more", () => {
  expect(split(list(1_000))).toHaveLength(1_000);
  expect(() => split(list(1_001))).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});

test("pauses within an item of many megabytes", () => {
  const body = Buffer.from(`{"items":[[${"[],".repeat(1_000_000)}[]]]}`);
  const pauses = [...splitItems(body)].filter((item) => item === null);
  expect(pauses.length).toBeGreaterThanOrEqual(5);
});
