import { expect, test } from "vitest";
import { compareJson, layOutJson, parseExact, sliceMember } from "./exact-json.ts";

const noPause = () => Promise.resolve();

test("no digit is changed where JSON is laid out", async () => {
  const laidOut = await layOutJson('{"a":12345678901234567890,"b":[1e400,-0.10,{}],"c":"x\\"},[" }', noPause);
  expect(laidOut?.text).toBe(
    '{\n  "a": 12345678901234567890,\n  "b": [\n    1e400,\n    -0.10,\n    {}\n  ],\n  "c": "x\\"},["\n}',
  );
});

test("what opens on a line is known to close on another", async () => {
  const laidOut = await layOutJson('{"b":[1,2]}', noPause);
  expect([...(laidOut?.closes ?? [])]).toEqual([0, 6, 5, 0, 0, 0, 0]);
});

test("a text that is no JSON is not laid out", async () => {
  expect(await layOutJson('{"a":1', noPause)).toBeNull();
  expect(await layOutJson("]", noPause)).toBeNull();
});

test.each([
  ["brackets", `${"[".repeat(14_000)}${"]".repeat(14_000)}`],
  ["brackets that no text can be made of", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
  ["a long list below 500 others", `${"[".repeat(500)}${"1,".repeat(100_000)}1${"]".repeat(500)}`],
])("JSON that would be indentation for the most part is not laid out: %s", async (_, text) => {
  expect(await layOutJson(text, noPause)).toBeNull();
});

test("large JSON at an ordinary depth is laid out", async () => {
  const text = `${"[".repeat(15)}${"1,".repeat(300_000)}1${"]".repeat(15)}`;
  expect((await layOutJson(text, noPause))?.text).toHaveLength(9_900_511);
});

test("large JSON is laid out in slices", async () => {
  let pauses = 0;
  const text = `[${"1234567890,".repeat(300_000)}1]`;
  const laidOut = await layOutJson(text, () => {
    pauses += 1;
    return Promise.resolve();
  });
  expect(pauses).toBe(3);
  expect(laidOut?.text.replaceAll(/\s/gu, "")).toBe(text);
});

test("one member is cut out as it stands, also where others have its name", () => {
  const text = '{"x": {"result": 1}, "re\\u0073ult" : [1e400, "result"] , "_links": {"a": 2}}';
  expect(sliceMember(text, "result")).toBe('[1e400, "result"]');
  expect(sliceMember(text, "nothing")).toBeNull();
  expect(sliceMember('{"result":{"a":1}}', "result")).toBe('{"a":1}');
});

test("a comparison names exactly what has changed", () => {
  const before = parseExact(
    '{"n": 12345678901234567890, "list": [1, {"a/b": 1}], "same": "ä", "gone": null}',
  );
  const after = parseExact('{"n": 12345678901234567891, "list": [1, {"a/b": 2}, 3], "same": "\\u00e4"}');
  if (before === null || after === null) throw new Error("not taken apart");
  expect(compareJson(before, after, 100)).toEqual([
    { path: "/n", before: "12345678901234567890", after: "12345678901234567891" },
    { path: "/list/1/a~1b", before: "1", after: "2" },
    { path: "/list/2", before: null, after: "3" },
    { path: "/gone", before: "null", after: null },
  ]);
  expect(compareJson(before, after, 2)).toHaveLength(2);
});

test("JSON that is too deep, or cut off, is not taken apart", () => {
  expect(parseExact("[".repeat(100_000))).toBeNull();
  expect(parseExact('{"a": [1, 2')).toBeNull();
});
