/** Jobs that no backend should run: what each is, and how it has to be refused. */
import { deflateSync } from "node:zlib";

/** Circuits by name, in QPY (`make_circuits.py`). */
export type Circuits = Readonly<Record<"bell" | "gates" | "flow" | "sweep" | "entangled", Buffer>>;

/** A job, and what may become of it: a status with which it is refused at the door, or a code with which it has failed. */
export interface HostileJob {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly refused: readonly string[];
}

const MEGABYTE = 1024 * 1024;
const QPY = "QISKIT_QPY";
const QASM2 = "OPEN_QASM_V2";
const QASM3 = "OPEN_QASM_V3";
const INVALID = ["CIRCUIT_INVALID"] as const;
const LARGE = ["CIRCUIT_TOO_LARGE"] as const;
const FORMAT = ["CIRCUIT_FORMAT_UNSUPPORTED"] as const;
const INPUT = ["INVALID_INPUT"] as const;
const DOOR = ["400", "413"] as const;
/** What the platform ends: the backend could not have known. */
const LIMITS = ["TIMEOUT", "OUT_OF_MEMORY"] as const;

const toText = (content: Buffer) => deflateSync(content).toString("base64");
const job = (format: string, circuit: unknown, more: object = {}) => ({
  input_format: format,
  shots: 10,
  input: { primitive: "sampler", shape: "registers", pubs: [{ circuit, ...more }] },
});

/** A copy with other bytes from a place on. */
function write(content: Buffer, at: number, bytes: readonly number[]): Buffer {
  const copy = Buffer.from(content);
  copy.set(bytes, at);
  return copy;
}

function listHeaders({ bell }: Circuits): readonly HostileJob[] {
  const cases: readonly (readonly [string, Buffer, readonly string[]])[] = [
    ["another magic", write(bell, 0, [0x51, 0x49, 0x53, 0x4b, 0x49, 0x58]), INVALID],
    ["the version of a file that can carry code", write(bell, 6, [12]), FORMAT],
    ["a version that there is not yet", write(bell, 6, [255]), FORMAT],
    ["no program", write(bell, 10, [0, 0, 0, 0, 0, 0, 0, 0]), INVALID],
    ["2^63 programs", write(bell, 10, [128, 0, 0, 0, 0, 0, 0, 0]), INVALID],
    ["a header that is cut off", bell.subarray(0, 9), INVALID],
    ["half of a circuit", bell.subarray(0, bell.length / 2), INVALID],
    [
      "sizes of 2^32 and more",
      write(
        bell,
        20,
        Array.from({ length: 40 }, () => 0xff),
      ),
      LARGE,
    ],
  ];
  return [
    ...cases.map(([name, content, refused]) => ({
      name: `QPY with ${name}`,
      body: job(QPY, toText(content)),
      refused,
    })),
    { name: "QPY that is no base64", body: job(QPY, "\u0000%%%"), refused: INVALID },
    { name: "QPY that is empty", body: job(QPY, ""), refused: INVALID },
    { name: "QPY that is no text", body: job(QPY, { $ref: "/etc/passwd" }), refused: INPUT },
  ];
}

function listBombs({ bell }: Circuits): readonly HostileJob[] {
  const zeros = Buffer.concat([bell, Buffer.alloc(256 * MEGABYTE)]);
  const bomb = toText(zeros);
  const values = toText(Buffer.alloc(256 * MEGABYTE));
  const sweep = { names: ["angle"], shape: [2], values };
  return [
    { name: "a zlib bomb behind a circuit", body: job(QPY, bomb), refused: LARGE },
    { name: "a bomb in a bomb", body: job(QPY, toText(deflateSync(zeros))), refused: INVALID },
    {
      name: "a compressed circuit that is cut off",
      body: job(QPY, bomb.slice(0, 400)),
      refused: INVALID,
    },
    {
      name: "a zlib bomb as values of parameters",
      body: job(QPY, toText(bell), { parameters: sweep }),
      refused: INPUT,
    },
  ];
}

const QASM3_HEAD = 'OPENQASM 3.0; include "stdgates.inc"; qubit[1] q; bit[1] c;';
const MEASURED = "c[0] = measure q[0];";

/** Each gate is two of the gate before. */
function nestGates(depth: number): string {
  const gates = Array.from({ length: depth }, (_, n) => `gate g${n + 1} q { g${n} q; g${n} q; }`);
  return [
    "OPENQASM 2.0;",
    "gate g0 q { U(0,0,0) q; }",
    ...gates,
    `qreg q[1]; creg c[1]; g${depth} q[0]; measure q[0] -> c[0];`,
  ].join("\n");
}

function listTexts(): readonly HostileJob[] {
  const includes = ["/etc/passwd", "../platform.json", "src/program.py", "file:///etc/hostname"];
  const brackets = "(".repeat(50_000);
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ...includes.flatMap((path) => [
      [
        `a file of the host, ${path}, in OpenQASM 2`,
        QASM2,
        `OPENQASM 2.0; include "${path}";`,
        INVALID,
      ] as const,
      [
        `a file of the host, ${path}, in OpenQASM 3`,
        QASM3,
        `OPENQASM 3.0; include "${path}";`,
        INVALID,
      ] as const,
    ]),
    ["a loop of 10^9", QASM3, `${QASM3_HEAD} for int i in [0:1000000000] { h q[0]; } ${MEASURED}`, LARGE],
    [
      "loops in loops",
      QASM3,
      `${QASM3_HEAD} ${"for int i in [0:9999] { ".repeat(5)} h q[0]; ${"}".repeat(5)} ${MEASURED}`,
      LARGE,
    ],
    ["gates of 2^40 operations", QASM2, nestGates(40), LARGE],
    [
      "50,000 brackets",
      QASM3,
      `${QASM3_HEAD} rx(${brackets}1${brackets.replaceAll("(", ")")}) q[0];`,
      [...LARGE, ...INVALID],
    ],
    [
      "50,000 brackets in OpenQASM 2",
      QASM2,
      `OPENQASM 2.0; include "qelib1.inc"; qreg q[1]; rx(${brackets}1) q[0];`,
      [...LARGE, ...INVALID],
    ],
    [
      "2^31 qubits",
      QASM2,
      "OPENQASM 2.0; qreg q[2147483647]; creg c[1]; measure q[0] -> c[0];",
      [...INVALID, ...LARGE, "TOO_MANY_QUBITS", "OUT_OF_MEMORY"],
    ],
    [
      "10^9 qubits in OpenQASM 3",
      QASM3,
      `OPENQASM 3.0; qubit[1000000000] q; bit[1] c; ${MEASURED}`,
      [...INVALID, ...LARGE, "TOO_MANY_QUBITS", "OUT_OF_MEMORY"],
    ],
    [
      "10^9 bits",
      QASM2,
      "OPENQASM 2.0; qreg q[1]; creg c[1000000000]; measure q[0] -> c[0];",
      [...INVALID, ...LARGE, "OUT_OF_MEMORY"],
    ],
    ["a text that is no circuit", QASM3, "\u0000\ud83d\ude00 DROP TABLE execution;", INVALID],
    [
      "a power tower as an angle",
      QASM2,
      'OPENQASM 2.0; include "qelib1.inc"; qreg q[1]; creg c[1]; rx(9^9^9^9^9) q[0]; measure q[0] -> c[0];',
      INVALID,
    ],
    [
      "a state of 2^40 amplitudes",
      QASM2,
      'OPENQASM 2.0; include "qelib1.inc"; qreg q[40]; creg c[40]; h q; measure q -> c;',
      ["TOO_MANY_QUBITS"],
    ],
  ];
  return rows.map(([name, format, text, refused]) => ({ name, body: job(format, text), refused }));
}

function listLarge({ bell, sweep, entangled }: Circuits): readonly HostileJob[] {
  const text = toText(bell);
  const many = (count: number, more: object = {}) => ({
    ...job(QPY, text),
    input: { pubs: Array.from({ length: count }, () => ({ circuit: text, ...more })) },
  });
  const observables = (value: unknown) => ({
    ...job(QPY, text, { observables: value }),
    input: { primitive: "estimator", pubs: [{ circuit: text, observables: value }] },
  });
  return [
    { name: "10^9 shots", body: { ...job(QPY, text), shots: 1_000_000_000 }, refused: DOOR },
    { name: "10^30 shots", body: { ...job(QPY, text), shots: 1e30 }, refused: DOOR },
    {
      name: "10^9 shots of one circuit",
      body: job(QPY, text, { shots: 1_000_000_000 }),
      refused: ["SHOTS_OUT_OF_RANGE"],
    },
    {
      name: "10^9 shots of all circuits",
      body: many(300, { shots: 1_000_000 }),
      refused: ["SHOTS_OUT_OF_RANGE"],
    },
    { name: "301 circuits", body: many(301), refused: DOOR },
    {
      name: "circuits that are 10^5 numbers",
      body: { ...job(QPY, text), input: { pubs: Array.from({ length: 100_000 }, () => 1) } },
      refused: DOOR,
    },
    { name: "a body of 3 MB", body: job(QASM2, "x".repeat(3 * MEGABYTE)), refused: DOOR },
    {
      name: "a shape of 2^31 by 2^31",
      body: job(QPY, toText(sweep), {
        parameters: { names: ["angle"], shape: [2 ** 31, 2 ** 31], values: "" },
      }),
      refused: INPUT,
    },
    {
      name: "a shape of many dimensions",
      body: job(QPY, toText(sweep), {
        parameters: { names: ["angle"], shape: Array.from({ length: 1_000 }, () => 2), values: "" },
      }),
      refused: INPUT,
    },
    {
      name: "a shape without a size",
      body: job(QPY, toText(sweep), {
        parameters: { names: [], shape: Array.from({ length: 4 }, () => 10_000), values: "" },
      }),
      refused: [...INPUT, ...INVALID],
    },
    {
      name: "values for no parameter",
      body: job(QPY, text, { parameters: { names: ["x"], shape: [], values: toText(Buffer.alloc(8)) } }),
      refused: INVALID,
    },
    {
      name: "an observable of 10^5 terms",
      body: observables(Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [n.toString(2), n]))),
      refused: [...INPUT, ...INVALID, ...LARGE],
    },
    {
      name: "an observable of 10^5 letters",
      body: observables({ ["Z".repeat(100_000)]: 1 }),
      refused: [...INPUT, ...INVALID, ...LARGE],
    },
    {
      name: "nested lists of observables",
      body: observables(JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`)),
      refused: DOOR,
    },
    { name: "a seed beyond 2^64", body: { ...job(QPY, text), input_params: { seed: 1e25 } }, refused: INPUT },
    {
      name: "an option that names a file",
      body: { ...job(QPY, text), input_params: { noise: "/etc/passwd" } },
      refused: INPUT,
    },
    {
      name: "a method that is no text",
      body: { ...job(QPY, text), input_params: { method: ["statevector"] } },
      refused: INPUT,
    },
    {
      name: "an entangled state of 40 qubits",
      body: { ...job(QPY, toText(entangled)), input_params: { method: "matrix_product_state" } },
      refused: LIMITS,
    },
    {
      name: "a loop that does not end",
      body: job(QASM3, `${QASM3_HEAD} c[0] = measure q[0]; while (c[0] == false) { c[0] = measure q[0]; }`),
      refused: ["TIMEOUT"],
    },
  ];
}

function listForms(): readonly HostileJob[] {
  const inputs: readonly (readonly [string, unknown])[] = [
    ["a number", 5],
    ["null", null],
    ["an empty list", []],
    ["nothing known", { circuits: "x" }],
    ["circuits that are texts", { pubs: ["OPENQASM 2.0;"] }],
    ["circuits that are null", { pubs: [null] }],
    ["another primitive", { primitive: "__import__('os')", pubs: [{ circuit: "" }] }],
    ["qasm that is a number", { qasm: [5] }],
  ];
  return inputs.map(([name, input]) => ({
    name: `an input that is ${name}`,
    body: { input_format: QASM2, shots: 1, input },
    refused: [...DOOR, ...INPUT, ...INVALID],
  }));
}

/** All of them. */
export function listHostileJobs(circuits: Circuits): readonly HostileJob[] {
  return [
    ...listHeaders(circuits),
    ...listBombs(circuits),
    ...listTexts(),
    ...listLarge(circuits),
    ...listForms(),
  ];
}
