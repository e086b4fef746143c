import { expect, test } from "vitest";
import { findExample, findFormat, listTextFormats, readCircuits, toInput } from "./circuits.ts";

const backend = (...formats: readonly ("QISKIT_QPY" | "OPEN_QASM_V3" | "OPEN_QASM_V2" | "DIMOD_BQM")[]) => ({
  configuration: {
    shots_range: { min: 1, max: 10 },
    max_pubs_per_job: 1,
    supported_input_formats: [...formats],
    memory_result_supported: true,
  },
});

test("a text is in the format that it begins with, whatever is remarked before", () => {
  expect(findFormat("// of Bell\n/* 1964 */\nOPENQASM 3.0;")).toBe("OPEN_QASM_V3");
  expect(findFormat('OPENQASM 2.0;\ninclude "qelib1.inc";')).toBe("OPEN_QASM_V2");
  expect(findFormat(' {"num_variables": 1}')).toBe("DIMOD_BQM");
  expect(findFormat("qubit q;")).toBeNull();
});

test("the example of a backend is in a format that it reads, and none where all of them are binary", () => {
  for (const format of ["OPEN_QASM_V3", "OPEN_QASM_V2", "DIMOD_BQM"] as const)
    expect(findFormat(findExample(backend("QISKIT_QPY", format)))).toBe(format);
  expect(findExample(backend("QISKIT_QPY"))).toBe("");
  expect(listTextFormats(backend("OPEN_QASM_V2", "QISKIT_QPY", "OPEN_QASM_V3"))).toEqual([
    "OPEN_QASM_V3",
    "OPEN_QASM_V2",
  ]);
});

test("a circuit becomes a job's input, and is read from it again", () => {
  const input = toInput("OPEN_QASM_V3", "OPENQASM 3.0;");
  expect(readCircuits("OPEN_QASM_V3", input)).toEqual([
    { name: null, text: "OPENQASM 3.0;", raw: "OPENQASM 3.0;" },
  ]);
  expect(toInput("DIMOD_BQM", '{"num_variables": 1}')).toEqual({ bqm: { num_variables: 1 } });
  expect(() => toInput("DIMOD_BQM", "{")).toThrow(SyntaxError);
});

test("circuits of other SDKs are read as well, and binary ones are no text", () => {
  expect(readCircuits("OPEN_QASM_V2", "OPENQASM 2.0;")).toMatchObject([{ text: "OPENQASM 2.0;" }]);
  expect(readCircuits("OPEN_QASM_V2", { qasm: ["a", "b"] })).toMatchObject([{ text: "a" }, { text: "b" }]);
  expect(readCircuits("QISKIT_QPY", { pubs: [{ circuit: "eJw=", name: "ghz" }] })).toEqual([
    { name: "ghz", text: null, raw: "eJw=" },
  ]);
});

test("what has another form is left to be shown as JSON", () => {
  expect(readCircuits("DIMOD_BQM", { bqm: {} })).toBeNull();
  expect(readCircuits("OPEN_QASM_V3", { pubs: [{ circuit: 7 }] })).toBeNull();
  expect(readCircuits("OPEN_QASM_V3", { pubs: [] })).toBeNull();
  expect(readCircuits("OPEN_QASM_V3", null)).toBeNull();
});
