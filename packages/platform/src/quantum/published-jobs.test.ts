import { expect, test } from "vitest";
import { describeParams, unwrapList } from "./published-jobs.ts";

const unwrap = (text: string) => Buffer.from(unwrapList(Buffer.from(text))).toString();

test("a list is what its backend has returned, digit by digit", () => {
  expect(unwrap('{"value": [{"counts":{"0":1.0000000000000000001}},2]}')).toBe(
    '[{"counts":{"0":1.0000000000000000001}},2]',
  );
});

test.each([
  '{"value":[1]}',
  '{"value":[1],"more":2}',
  '{"value":{"a":1}}',
  '{"counts":{}}',
  "{}",
  '{"value":1}',
])("%s is what its backend has returned", (text) => expect(unwrap(text)).toBe(text));

test("a result that is shorter than what a list begins with is read no further than it goes", () => {
  const result = Uint8Array.from(Buffer.from("{}"));
  expect(unwrapList(result)).toEqual(result);
});

test("a circuit of IonQ's says in its options how many qubits it has, as text; others do not", () => {
  const job = { input_format: "IONQ_CIRCUIT_V1", input: { qubits: 3, circuit: [] } };
  expect(describeParams(job)).toEqual({ qubits: "3" });
  expect(describeParams({ ...job, input_params: { qubits: "5", memory: true } })).toEqual({
    qubits: "5",
    memory: true,
  });
  expect(describeParams({ ...job, input: "x" })).toEqual({});
  expect(describeParams({ ...job, input_format: "OPEN_QASM_V2" })).toEqual({});
});
