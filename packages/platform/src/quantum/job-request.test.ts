import { expect, test } from "vitest";
import { readInput, readJobRequest, toStartBody } from "./job-request.ts";

const FORMAT = "OPEN_QASM_V3";

function startBody(input: string, more = ""): { readonly body: string; readonly data: Uint8Array } {
  const text = `{"backend_id":"sim.echo","input_format":"${FORMAT}","input": ${input} ${more}}`;
  const body = Buffer.from(toStartBody(readJobRequest(Buffer.from(text)))).toString("utf8");
  const data = /^\{"data":(.*),"params":/su.exec(body)?.[1] ?? "";
  return { body, data: Buffer.from(data) };
}

test.each<readonly [string, string]>([
  [
    '{"pubs": [1.0e2], "n": 12345678901234567890}',
    '{"format":"OPEN_QASM_V3","pubs": [1.0e2], "n": 12345678901234567890}',
  ],
  ["{ }", '{"format":"OPEN_QASM_V3" }'],
  ['"h q[0]; \\u00e9"', '{"format":"OPEN_QASM_V3","input":"h q[0]; \\u00e9"}'],
  ["[1, 2]", '{"format":"OPEN_QASM_V3","input":[1, 2]}'],
  ["null", '{"format":"OPEN_QASM_V3","input":null}'],
])("the input %s is in the data as %s, and is read from there as it was sent", (input, data) => {
  const made = startBody(input);
  expect(made.data.toString()).toBe(data);
  expect(Buffer.from(readInput(made.data, FORMAT)).toString()).toBe(input);
  expect(JSON.parse(made.body)).toMatchObject({ data: { format: FORMAT }, params: {} });
});

test.each<readonly [string, string]>([
  ["", "{}"],
  [',"shots":7', '{"shots":7}'],
  [',"input_params": {"seed": 1}', '{"seed": 1}'],
  [',"shots":7,"input_params": {"seed": 1}', '{"seed": 1,"shots":7}'],
  [',"shots":7,"input_params": { "shots": 9 }', '{ "shots": 9 ,"shots":7}'],
])("options %s are the params %s", (more, params) => {
  expect(startBody("1", more).body).toBe(`{"data":{"format":"OPEN_QASM_V3","input":1},"params":${params}}`);
});

test.each<readonly [string, string, string]>([
  ["nothing", "", "INVALID_JSON"],
  ["no JSON", "{", "INVALID_JSON"],
  ["a list", "[]", "INVALID_INPUT"],
  ["a key that is given twice", '{"backend_id":"a","input_format":"b","input":1,"input":2}', "INVALID_INPUT"],
  ["no input", '{"backend_id":"a","input_format":"b"}', "INVALID_INPUT"],
  [
    "shots that are no number",
    '{"backend_id":"a","input_format":"b","input":1,"shots":"7"}',
    "INVALID_INPUT",
  ],
])("%s is refused", (_what, text, code) => {
  expect(() => readJobRequest(Buffer.from(text))).toThrow(expect.objectContaining({ code }) as Error);
});

test.each<readonly [string, string, RegExp]>([
  [
    "a name that is too long",
    `"name":"${"x".repeat(201)}"`,
    /^name must NOT have more than 200 characters, not "x+\.\.\.\.$/u,
  ],
  ["a name that is no text", '"name":5', /^name must be of type string, not number\.$/u],
  ["an empty tag", '"tags":["a",""]', /^tags\.1 must NOT have fewer than 1 characters, not ""\.$/u],
  [
    "an amount below nothing",
    '"max_cost":"-1"',
    /^max_cost cannot be "-1"; expected: a decimal number .*\.$/u,
  ],
  [
    "an amount that is none",
    '"max_cost":true',
    /^max_cost must be of type string or number, not boolean\.$/u,
  ],
])("%s is refused by what it has to be", (_what, member, message) => {
  const text = `{"backend_id":"a","input_format":"b","input":1,${member}}`;
  expect(() => readJobRequest(Buffer.from(text))).toThrow(message);
});
