import { expect, test } from "vitest";
import { formatError, formatHertz, formatSeconds, readCalibration } from "./read-calibration.ts";

test("qubits and gates are read, and what is no number is not known", () => {
  expect(
    readCalibration({
      qubits: [{ id: 0, t1: 8.52e-5, t2: "<b>" }, 7],
      gates: [{ name: "cz", qubits: [0, "1"], duration: 6e-8, error: 0.0032 }],
    }),
  ).toEqual({
    qubits: [{ id: "0", t1: 8.52e-5, t2: null, frequency: null }],
    gates: [{ name: "cz", qubits: ["0", "1"], duration: 6e-8, error: 0.0032 }],
  });
});

test.each([[null], [7], [[]], [{}], [{ qubits: "none" }]])("%j is no calibration of this form", (given) => {
  expect(readCalibration(given)).toBeNull();
});

test("values have three digits and a unit", () => {
  expect([formatSeconds(8.524e-5), formatSeconds(6e-8), formatSeconds(0.0021), formatSeconds(2)]).toEqual([
    "85.2 µs",
    "60 ns",
    "2.1 ms",
    "2 s",
  ]);
  expect([formatHertz(5.1234e9), formatError(0.00032), formatError(null)]).toEqual([
    "5.12 GHz",
    "0.032 %",
    "-",
  ]);
});
