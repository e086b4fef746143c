import { expect, test } from "vitest";
import { readCouplings } from "./connectivity.ts";

const CONFIGURATION = {
  shots_range: { min: 1, max: 10 },
  max_pubs_per_job: 1,
  supported_input_formats: ["OPEN_QASM_V3" as const],
  memory_result_supported: false,
};

test("a pair is one in either direction, and qubits keep the order in which the backend names them", () => {
  const graph = { b: ["a"], a: ["b", "c", "a"] };
  const qubits = [{ id: "a" }, { id: "b" }, { id: "alone" }];
  expect(
    readCouplings({ ...CONFIGURATION, qubits, connectivity: { fully_connected: false, graph } }),
  ).toEqual({
    qubits: ["a", "b", "alone", "c"],
    pairs: [
      [0, 1],
      [0, 3],
    ],
  });
});

test("where any pair is joined, or nothing is said, there is nothing to draw", () => {
  expect(readCouplings({ ...CONFIGURATION, connectivity: { fully_connected: true, graph: {} } })).toBeNull();
  expect(readCouplings(CONFIGURATION)).toBeNull();
});
