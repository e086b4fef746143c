import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createBudget } from "./budget.ts";
import type { Budget } from "./budget.ts";
import { normalizeResult } from "./normalize.ts";
import type { SentAs } from "./normalize.ts";

const normalize = async (result: unknown, sent: Partial<SentAs> = {}) =>
  await normalizeResult(
    result,
    { inputFormat: "OPEN_QASM_V3", inputParams: {}, shots: null, ...sent },
    createBudget(),
  );

const register = (bits: number, bytes: readonly number[], more: object = {}) => ({
  name: "c",
  bits,
  shape: [],
  samples: deflateSync(Buffer.from(bytes)).toString("base64"),
  ...more,
});

const circuit = (more: object) => ({ circuits: [{ name: null, index: [], ...more }] });

/** Lists within lists, as JSON.parse takes them: whoever descends by recursion falls. */
const DEEP = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
const AXES = Array<number>(65).fill(1);
/** 20 MB of shots in a few kilobytes, each with 65,536 bits. */
const WIDE = register(65_536, Array<number>(20 * 1024 * 1024).fill(0));
const EMPTY = { registers: [register(1, [], { shape: [60_000] })] };

test("shots are counted by their bits, the first one last, also where a byte is not enough", async () => {
  expect(await normalize({ pubs: [{ name: "ghz", registers: [register(3, [1, 6, 1])] }] })).toEqual({
    circuits: [{ name: "ghz", index: [], shots: 3, counts: { "001": 2, "110": 1 } }],
  });
  expect(await normalize({ pubs: [{ registers: [register(10, [2, 1])] }] })).toEqual(
    circuit({ shots: 1, counts: { "1000000001": 1 } }),
  );
});

test("registers are one number, the first of them its lowest bits", async () => {
  const registers = [register(2, [1, 1]), register(1, [0, 1])];
  expect(await normalize({ pubs: [{ registers }] })).toEqual(
    circuit({ shots: 2, counts: { "001": 1, "101": 1 } }),
  );
});

test("each set of parameters has counts of its own, and its place among them", async () => {
  const samples = register(1, [0, 0, 0, 1, 1, 1, 1, 1], { shape: [2, 2] });
  expect((await normalize({ pubs: [{ registers: [samples] }] }))?.circuits).toEqual([
    { name: null, index: [0, 0], shots: 2, counts: { 0: 2 } },
    { name: null, index: [0, 1], shots: 2, counts: { 0: 1, 1: 1 } },
    { name: null, index: [1, 0], shots: 2, counts: { 1: 2 } },
    { name: null, index: [1, 1], shots: 2, counts: { 1: 2 } },
  ]);
});

test("expectation values stay as they are, whatever their shape", async () => {
  const pub = { name: "energy", evs: [[1, null]], stds: [[0.1, 0.2]] };
  expect(await normalize({ pubs: [pub, { evs: -1 }] })).toEqual({
    circuits: [
      { index: [], shots: null, ...pub },
      { name: null, index: [], shots: null, evs: -1 },
    ],
  });
});

const FOUR = Array.from({ length: 4 }, () => [1, 0, 0]);

/** `x(0)` of three qubits, as each SDK is answered. */
test.each<readonly [string, unknown, Partial<SentAs>]>([
  ["of shape counts", { pubs: [{ counts: { "001": 4 }, memory: [] }] }, {}],
  ["of QUDORA's SDK", { counts: { "001": 4 }, memory: ["001"] }, {}],
  ["of Kipu's SDK", { counts: { "100": 4 } }, { inputParams: { mode: "sample" } }],
  ["of IonQ's SDK", { histogram: { 1: 1 } }, { inputParams: { qubits: "3", meas_map: [0, 1, 2] }, shots: 4 }],
  ["of IonQ's older SDKs", { histogram: { 4: 1 } }, { inputParams: { qubits: "3" }, shots: 4 }],
  ["of Braket's SDK", { measurements: FOUR, measuredQubits: [0, 1, 2] }, {}],
  ["of a list", [{ counts: { "001": 4 } }], {}],
  ["of a list in the form of executions", { value: [{ counts: { "001": 4 } }] }, {}],
  ["of several programs of Braket's", { results: [{ measurements: FOUR }] }, {}],
])("a result %s has the same counts", async (_what, result, sent) => {
  expect(await normalize(result, sent)).toEqual(circuit({ shots: 4, counts: { "001": 4 } }));
});

test("shares that are no counts of the shots are probabilities", async () => {
  const sent = { inputParams: { qubits: "1" }, shots: 10 };
  expect(await normalize({ histogram: { 0: 0.333, 1: 0.667 } }, sent)).toEqual(
    circuit({ shots: 10, probabilities: { 0: 0.333, 1: 0.667 } }),
  );
});

test("a state has its amplitudes by the same bits as counts", async () => {
  const statevector = [
    [0, 0],
    [0, 0],
    [0, 1],
    [0, 0],
  ];
  const one = { "00": [0, 0], "01": [0, 1], "10": [0, 0], "11": [0, 0] };
  expect(await normalize({ statevector }, { inputParams: { mode: "statevector" } })).toEqual(
    circuit({ shots: null, amplitudes: one }),
  );
  expect(await normalize({ amplitudes: { "10": [0, 1] } })).toEqual(
    circuit({ shots: null, amplitudes: { "01": [0, 1] } }),
  );
});

test("samples have a value for each variable, packed or not, the least energy first", async () => {
  const sampleset = {
    variable_labels: ["a", 7],
    variable_type: "SPIN",
    sample_packed: true,
    sample_data: { data: [[1], [2]] },
    vectors: { energy: { data: [3, -1] }, num_occurrences: { data: [1, 5] } },
  };
  const samples = [
    { values: { a: -1, 7: 1 }, energy: -1, occurrences: 5 },
    { values: { a: 1, 7: -1 }, energy: 3, occurrences: 1 },
  ];
  expect(await normalize({ sampleset })).toEqual({ samples });
  const plain = {
    ...sampleset,
    sample_packed: false,
    sample_data: {
      data: [
        [1, -1],
        [-1, 1],
      ],
    },
  };
  expect(await normalize({ sampleset: plain })).toEqual({ samples });
});

test.each<readonly [string, unknown]>([
  ["a number", 7],
  ["nothing", {}],
  ["no circuits", { pubs: [] }],
  ["bits that are none", { counts: { "0x1": 1 } }],
  ["half a shot", { counts: { 1: 0.5 } }],
  ["less than no shots", { counts: { 1: -1 } }],
  ["samples that are no zlib", { pubs: [{ registers: [register(1, [], { samples: "AAAA" })] }] }],
  ["a register without bits", { pubs: [{ registers: [register(0, [])] }] }],
  ["registers of different lengths", { pubs: [{ registers: [register(1, [0, 0]), register(1, [1])] }] }],
  ["fewer shots than sets", { pubs: [{ registers: [register(1, [0], { shape: [2] })] }] }],
  ["a shape that is none", { pubs: [{ registers: [register(1, [0], { shape: [0] })] }] }],
  [
    "a state of no number of qubits",
    {
      statevector: [
        [1, 0],
        [0, 0],
        [0, 0],
      ],
    },
  ],
  ["measurements of anything", { measurements: [["a"]] }],
  ["a histogram of nobody's circuit", { histogram: { 1: 1 } }],
  ["a sample set without samples", { sampleset: { vectors: {} } }],
  ["measurements as deep as it is long", { measurements: [[DEEP]] }],
  [
    "labels as deep as it is long",
    {
      sampleset: {
        variable_labels: [DEEP],
        sample_data: { data: [[1]] },
        vectors: { energy: { data: [0] } },
      },
    },
  ],
  ["values as deep as it is long", { pubs: [{ evs: DEEP }] }],
  ["shots in more axes than arrays have", { pubs: [{ registers: [register(1, [0], { shape: AXES })] }] }],
])("a result of %s has no normal form", async (_what, result) => {
  expect(await normalize(result)).toBeNull();
});

test.each<readonly [string, unknown]>([
  ["shots", { pubs: [{ registers: [register(1, Array<number>(2_000_001).fill(0))] }] }],
  ["bytes of shots", { pubs: [{ registers: [register(8, Array<number>(33_600_000).fill(0))] }] }],
  [
    "outcomes",
    { counts: Object.fromEntries(Array.from({ length: 100_001 }, (_, at) => [at.toString(2), 1])) },
  ],
  [
    "bits",
    {
      counts: Object.fromEntries(
        Array.from({ length: 90 }, (_, at) => [at.toString(2).padStart(99_999, "0"), 1]),
      ),
    },
  ],
  ["values", { pubs: [{ evs: Array<number>(100_001).fill(0) }] }],
  ["bytes of shots of several registers", { pubs: [{ registers: [WIDE, WIDE] }] }],
  ["sets of parameters without shots", { pubs: [EMPTY, EMPTY] }],
  ["registers of sets without shots", { pubs: [{ registers: Array(40).fill(EMPTY.registers[0]) }] }],
  ["characters of a name, which each set has", { pubs: [{ ...EMPTY, name: "n".repeat(200) }] }],
  ["circuits without outcomes", { results: Array.from({ length: 100_001 }, () => ({ counts: {} })) }],
])("a result of too many %s is refused before it is counted", async (_what, result) => {
  await expect(normalize(result)).rejects.toMatchObject({ code: "NO_NORMAL_FORM" });
});

test("others are answered while shots of many registers are counted", async () => {
  const budget = createBudget();
  let pauses = 0;
  const breathe: Budget["breathe"] = (count) => {
    const pause = budget.breathe(count);
    if (pause !== undefined) pauses++;
    return pause;
  };
  const sent = { inputFormat: "OPEN_QASM_V3", inputParams: {}, shots: null };
  const count = async (shots: readonly number[]) => {
    pauses = 0;
    const registers = Array(200).fill(register(8, shots));
    await normalizeResult({ pubs: [{ registers }] }, sent, { ...budget, breathe });
    return pauses;
  };
  expect(await count(Array<number>(1_000).fill(0))).toBe(10);
  // As often again while the outcomes are written, of which there are 250.
  expect(await count(Array.from({ length: 1_000 }, (_, at) => at % 250))).toBe(12);
});
