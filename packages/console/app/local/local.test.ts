import { expect, test } from "vitest";
import { composeExample } from "./compose-example.ts";
import { readOutcome } from "./read-outcome.ts";

test("the example is laid out as a start, with the digits of its files, and empty where there is no file", () => {
  expect(composeExample({ data: '{"id":12345678901234567890,"x":[1e400]}', params: ' { "a" :1.0}\n' })).toBe(
    '{\n  "data": {\n    "id": 12345678901234567890,\n    "x": [\n      1e400\n    ]\n  },\n  "params": {\n    "a": 1.0\n  }\n}',
  );
  expect(composeExample({ data: '{"a":"\u007f\u202eä"}', params: null })).toContain('"a": "\\u007f\\u202eä"');
  expect(composeExample({ data: null, params: null })).toBe('{\n  "data": {},\n  "params": {}\n}');
});

const FRAME =
  '"_links":{"status":{"href":"/1"},"a.txt":{"href":"/1/result/a.txt"}},"_embedded":{"status":{"id":"1"}}}';

test("a result is what run has returned: without what the server adds, with its digits and its files", () => {
  expect(readOutcome(`{"n":12345678901234567890,"x":1e400,${FRAME}`, true)).toEqual({
    kind: "result",
    text: '{\n  "n": 12345678901234567890,\n  "x": 1e400\n}',
    files: ["a.txt"],
  });
  expect(readOutcome(`{${FRAME}`, true)).toMatchObject({ text: "{}" });
});

test("a failure has its code and detail as they are, and its last checkpoint digit by digit", () => {
  expect(readOutcome(`{"code":"TIMEOUT","detail":"a \\"long\\" run",${FRAME}`, false)).toEqual({
    kind: "failure",
    code: "TIMEOUT",
    detail: 'a "long" run',
    checkpoint: null,
  });
  const partial = `{"code":7,"detail":{"a":1.0},"partial":true,"result":{"best":1.10},${FRAME}`;
  expect(readOutcome(partial, false)).toEqual({
    kind: "failure",
    code: "7",
    detail: '{"a":1.0}',
    checkpoint: '{"best":1.10}',
  });
});
