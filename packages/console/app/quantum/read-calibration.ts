import { isObject } from "./read-json.ts";

/** How good a qubit is; null: it does not say. Times in seconds, frequencies in hertz. */
export interface QubitCalibration {
  readonly id: string;
  readonly t1: number | null;
  readonly t2: number | null;
  readonly frequency: number | null;
}

/** How good a gate is on its qubits. */
export interface GateCalibration {
  readonly name: string;
  readonly qubits: readonly string[];
  readonly duration: number | null;
  readonly error: number | null;
}

/** What a backend says of its quality. */
interface ShownCalibration {
  readonly qubits: readonly QubitCalibration[];
  readonly gates: readonly GateCalibration[];
}

/** Reads a calibration of the form that the platform's simulators and adapters give; null: it has another one. */
export function readCalibration(calibration: unknown): ShownCalibration | null {
  if (!isObject(calibration)) return null;
  const qubits = readList(calibration["qubits"]).map((qubit) => ({
    id: toText(qubit["id"]),
    t1: toNumber(qubit["t1"]),
    t2: toNumber(qubit["t2"]),
    frequency: toNumber(qubit["frequency"]),
  }));
  const gates = readList(calibration["gates"]).map((gate) => ({
    name: toText(gate["name"]),
    qubits: Array.isArray(gate["qubits"]) ? (gate["qubits"] as readonly unknown[]).map(toText) : [],
    duration: toNumber(gate["duration"]),
    error: toNumber(gate["error"]),
  }));
  return qubits.length + gates.length === 0 ? null : { qubits, gates };
}

function readList(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((one) => isObject(one)) : [];
}

const toNumber = (value: unknown): number | null => (typeof value === "number" ? value : null);
const toText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "?";

const TIMES = [
  { unit: "s", from: 1, factor: 1 },
  { unit: "ms", from: 1e-3, factor: 1e3 },
  { unit: "µs", from: 1e-6, factor: 1e6 },
  { unit: "ns", from: 0, factor: 1e9 },
] as const;

/** "85.2 µs"; "-" for null. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return "-";
  const { unit, factor } = TIMES.find(({ from }) => Math.abs(seconds) >= from) ?? TIMES[0];
  return `${toThree(seconds * factor)} ${unit}`;
}

/** "5.12 GHz"; "-" for null. */
export function formatHertz(hertz: number | null): string {
  return hertz === null ? "-" : `${toThree(hertz / 1e9)} GHz`;
}

/** "0.032 %"; "-" for null. */
export function formatError(error: number | null): string {
  return error === null ? "-" : `${toThree(error * 100)} %`;
}

const toThree = (value: number): string => String(Number(value.toPrecision(3)));
