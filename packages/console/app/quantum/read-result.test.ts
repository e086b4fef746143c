import { expect, test } from "vitest";
import { readNormal, readResult } from "./read-result.ts";
import type { MeasuredCircuit, Outcome } from "./read-result.ts";
import { countOutcomes, listShots } from "./read-shots.ts";

/** As the SDK packs shots. */
async function pack(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(packed.reduce((text, byte) => text + String.fromCharCode(byte), ""));
}

const register = async (bits: number, bytes: readonly number[], shape: readonly number[] = []) => ({
  name: "c",
  bits,
  shape,
  samples: await pack(Uint8Array.from(bytes)),
});

function readCircuit(result: unknown): MeasuredCircuit {
  const shown = readResult(JSON.stringify(result));
  if (shown.kind !== "measured") throw new Error(`the result is ${shown.kind}`);
  const [circuit] = shown.circuits;
  if (circuit === undefined) throw new Error("there is no circuit");
  return circuit;
}

async function count(result: unknown, set = 0) {
  return (await countOutcomes(readCircuit(result), set)).outcomes;
}

test("shots are counted, the most frequent outcome first, and bits are in Qiskit's order", async () => {
  expect(await count({ pubs: [{ registers: [await register(3, [1, 1, 6])] }] })).toEqual([
    ["001", 2],
    ["110", 1],
  ]);
});

test("a register of more than eight bits has its highest byte first", async () => {
  expect(await count({ pubs: [{ registers: [await register(10, [0b10, 0b1])] }] })).toEqual([
    ["1000000001", 1],
  ]);
});

test("several registers are words, the last one first, and each shot keeps its order", async () => {
  const result = { pubs: [{ registers: [await register(1, [0, 0, 1]), await register(2, [1, 3, 0])] }] };
  expect(await count(result)).toEqual([
    ["00 1", 1],
    ["01 0", 1],
    ["11 0", 1],
  ]);
  expect(await listShots(readCircuit(result), 0)).toBe("01 0\n11 0\n00 1\n");
});

test("each set of parameters has counts of its own", async () => {
  const result = { pubs: [{ registers: [await register(1, [0, 0, 0, 1, 1, 1], [3])] }] };
  expect(readCircuit(result).sets).toBe(3);
  expect(await count(result, 0)).toEqual([["0", 2]]);
  expect(await count(result, 1)).toEqual([
    ["0", 1],
    ["1", 1],
  ]);
  expect(await count(result, 2)).toEqual([["1", 2]]);
});

/** What is shown of one circuit whose outcomes are counted. */
const toShown = (outcomes: readonly Outcome[], isCounted = true) => ({
  kind: "measured",
  circuits: [{ name: null, sets: 1, registers: null, outcomes, isCounted }],
});

test("counts are taken as they are, and those of other SDKs as the platform reads them", async () => {
  expect(await count({ pubs: [{ counts: { "00": 1, "11": 3 } }] })).toEqual([
    ["11", 3],
    ["00", 1],
  ]);
  // Their bits have an order that the result does not say.
  for (const other of [
    { counts: { "0": 5 } },
    { value: [{ counts: { "1": 5 } }] },
    { histogram: { "3": 1 } },
  ])
    expect(readResult(JSON.stringify(other))).toEqual({ kind: "other" });
  const circuit = { name: null, index: [], shots: 4 };
  const toNormal = (found: object) => readNormal(JSON.stringify({ circuits: [{ ...circuit, ...found }] }));
  expect(toNormal({ counts: { "01": 1, "10": 3 } })).toEqual(
    toShown([
      ["10", 3],
      ["01", 1],
    ]),
  );
  const halves: readonly Outcome[] = [
    ["00", 0.5],
    ["11", 0.5],
  ];
  expect(toNormal({ probabilities: { "11": 0.5, "00": 0.5 } })).toEqual(toShown(halves, false));
  // What is certain is no single shot.
  expect(toNormal({ probabilities: { "11": 1 } })).toEqual(toShown([["11", 1]], false));
  expect(toNormal({ amplitudes: { "0": [1, 0] } })).toEqual({ kind: "other" });
  expect(readNormal("{}")).toEqual({ kind: "other" });
});

test("expectation values are numbers, whatever their shape", () => {
  const pubs = [{ name: "ising", evs: [[1, -0.5]], stds: [[0.1, 0.2]] }];
  expect(readResult(JSON.stringify({ pubs }))).toEqual({
    kind: "estimated",
    circuits: [
      {
        name: "ising",
        values: [
          { value: 1, error: 0.1 },
          { value: -0.5, error: 0.2 },
        ],
      },
    ],
  });
});

test.each<readonly [string, string]>([
  ["no JSON", "{"],
  ["no object", "7"],
  ["no circuits", '{"pubs": []}'],
  ["circuits of which one has another form", '{"pubs": [{"counts": {"0": 1}}, {"counts": 7}]}'],
  ["counts that are none", '{"pubs": [{"counts": {"0": "many"}}]}'],
  ["counts below zero", '{"pubs": [{"counts": {"0": -1}}]}'],
  ["registers without bits", '{"pubs": [{"registers": [{"bits": 0, "samples": "", "shape": []}]}]}'],
  ["registers of no shape", '{"pubs": [{"registers": [{"bits": 1, "samples": ""}]}]}'],
  ["more bits than a circuit has", '{"pubs": [{"registers": [{"bits": 1e9, "samples": "", "shape": []}]}]}'],
  ["lists in lists without end", `{"pubs": [{"evs": ${"[".repeat(20_000)}1${"]".repeat(20_000)}}]}`],
  ["values that are none", '{"pubs": [{"evs": ["<b>"]}]}'],
])("a result with %s is shown as it is", (_what, text) => {
  expect(readResult(text)).toEqual({ kind: "other" });
});

test.each<readonly [string, object]>([
  ["no base64", { bits: 1, shape: [], samples: "%" }],
  ["not packed", { bits: 1, shape: [], samples: "AAAA" }],
  ["too short for their bits", { ...(await register(9, [0])), shape: [] }],
])("shots that are %s are said to be unreadable", async (_what, broken) => {
  const counted = await countOutcomes(readCircuit({ pubs: [{ registers: [broken] }] }), 0);
  expect(counted).toEqual({ outcomes: null, why: expect.stringContaining("cannot be read") as unknown });
});

test("a small text that unpacks to more than the page may hold is not unpacked", async () => {
  const samples = await pack(new Uint8Array(80 * 1_048_576));
  const counted = await countOutcomes(
    readCircuit({ pubs: [{ registers: [{ name: "c", bits: 1, shape: [], samples }] }] }),
    0,
  );
  expect(counted).toEqual({ outcomes: null, why: expect.stringContaining("too many shots") as unknown });
});

test("what several registers unpack to is bounded together", async () => {
  // 16,000 shots of 20,000 bits: 40 MB.
  const samples = await pack(new Uint8Array(16_000 * 2_500));
  const one = { name: "c", bits: 20_000, shape: [], samples };
  const counted = await countOutcomes(readCircuit({ pubs: [{ registers: [one, one] }] }), 0);
  expect(counted).toEqual({ outcomes: null, why: expect.stringContaining("too many shots") as unknown });
});
