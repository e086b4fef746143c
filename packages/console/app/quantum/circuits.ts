import type { Backend } from "@platform/contract/quantum-api/backends";
import type { JobRequest } from "@platform/contract/quantum-api/jobs";
import { isObject } from "./read-json.ts";

/** How a text is written that a backend is to run. */
export type TextFormat = "OPEN_QASM_V3" | "OPEN_QASM_V2" | "DIMOD_BQM";

/** Formats that people write as text, the newest first. */
const TEXT_FORMATS: readonly TextFormat[] = ["OPEN_QASM_V3", "OPEN_QASM_V2", "DIMOD_BQM"];

/** Words of formats. */
export const FORMAT_WORDS: Readonly<Record<string, string>> = {
  OPEN_QASM_V3: "OpenQASM 3",
  OPEN_QASM_V2: "OpenQASM 2",
  BRAKET_OPEN_QASM_V3: "OpenQASM 3 of Braket",
  DIMOD_BQM: "binary quadratic model of dimod",
  QISKIT_QPY: "QPY of Qiskit",
  IONQ_CIRCUIT_V1: "circuit of IonQ",
};

const BELL_3 = `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
`;

const BELL_2 = `OPENQASM 2.0;
include "qelib1.inc";
qreg q[2];
creg c[2];
h q[0];
cx q[0], q[1];
measure q -> c;
`;

const PROBLEM = `{
  "type": "BinaryQuadraticModel",
  "version": { "bqm_schema": "3.0.0" },
  "use_bytes": false,
  "index_type": "int32",
  "bias_type": "float64",
  "num_variables": 2,
  "num_interactions": 1,
  "variable_labels": ["a", "b"],
  "variable_type": "BINARY",
  "offset": 0,
  "info": {},
  "linear_biases": [1, 1],
  "quadratic_biases": [-3],
  "quadratic_head": [0],
  "quadratic_tail": [1]
}
`;

const EXAMPLES: Readonly<Record<TextFormat, string>> = {
  OPEN_QASM_V3: BELL_3,
  OPEN_QASM_V2: BELL_2,
  DIMOD_BQM: PROBLEM,
};

/** The formats of a backend that can be typed. */
export function listTextFormats({ configuration }: Pick<Backend, "configuration">): readonly TextFormat[] {
  const formats: readonly string[] = configuration?.supported_input_formats ?? [];
  return TEXT_FORMATS.filter((format) => formats.includes(format));
}

/** Something small that the backend runs: two entangled qubits, or two variables. */
export function findExample(backend: Pick<Backend, "configuration">): string {
  const [format] = listTextFormats(backend);
  return format === undefined ? "" : EXAMPLES[format];
}

/** Comments, and what stands behind them. */
const VERSION = /^\s*(?:\/\/[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*OPENQASM\s+(\d)/u;

/** What a text is, by what it begins with; null: none of these. */
export function findFormat(text: string): TextFormat | null {
  const version = VERSION.exec(text)?.[1];
  if (version === "2") return "OPEN_QASM_V2";
  if (version === "3") return "OPEN_QASM_V3";
  return text.trimStart().startsWith("{") ? "DIMOD_BQM" : null;
}

/** The input of a job for a text. @throws SyntaxError for a problem that is no JSON */
export function toInput(format: TextFormat, text: string): JobRequest["input"] {
  if (format === "DIMOD_BQM") return { bqm: JSON.parse(text) as unknown };
  return { primitive: "sampler", shape: "registers", pubs: [{ circuit: text }] };
}

/** A circuit of an input: its text, or how large it is where it is no text. */
export interface ShownCircuit {
  readonly name: string | null;
  readonly text: string | null;
  /** As it was sent. */
  readonly raw: string;
}

/** The circuits of an input in its order; null: it has another form, and is shown as JSON. */
export function readCircuits(format: string, input: unknown): readonly ShownCircuit[] | null {
  const isText = format.startsWith("OPEN_QASM") || format.startsWith("BRAKET_OPEN_QASM");
  const toCircuit = (raw: unknown, name: unknown = null): ShownCircuit | null =>
    typeof raw === "string"
      ? { name: typeof name === "string" && name !== "" ? name : null, text: isText ? raw : null, raw }
      : null;
  if (typeof input === "string") return isText ? [{ name: null, text: input, raw: input }] : null;
  if (!isObject(input)) return null;
  const given = input["pubs"] ?? input["qasm"];
  if (!Array.isArray(given) || given.length === 0) return null;
  const found = (given as readonly unknown[]).map((pub) =>
    isObject(pub) ? toCircuit(pub["circuit"], pub["name"]) : toCircuit(pub),
  );
  const whole = found.filter((circuit) => circuit !== null);
  return whole.length === found.length ? whole : null;
}
