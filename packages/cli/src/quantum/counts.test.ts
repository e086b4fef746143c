import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { readCounts } from "./counts.ts";

const register = (bits: number, bytes: readonly number[], more: object = {}) => ({
  name: "c",
  bits,
  shape: [],
  samples: deflateSync(Buffer.from(bytes)).toString("base64"),
  ...more,
});

const MANY = Array.from({ length: 2_000_001 }, () => 0);

test("shots are counted, the most frequent outcome first, and bits are in Qiskit's order", () => {
  expect(readCounts({ pubs: [{ registers: [register(3, [1, 1, 6])] }] })).toEqual([
    [
      ["001", 2],
      ["110", 1],
    ],
  ]);
});

test("a register of more than eight bits has its highest byte first", () => {
  expect(readCounts({ pubs: [{ registers: [register(10, [0b10, 0b1])] }] })).toEqual([[["1000000001", 1]]]);
});

test("two registers are two words, the last first", () => {
  expect(readCounts({ pubs: [{ registers: [register(1, [0, 0]), register(1, [1, 1])] }] })).toEqual([
    [["1 0", 2]],
  ]);
});

test.each<readonly [string, unknown]>([
  ["no object", 7],
  ["no pubs", { sampleset: {} }],
  ["no registers", { pubs: [{ evs: 1 }] }],
  ["sets of parameters", { pubs: [{ registers: [register(1, [0, 1], { shape: [2] })] }] }],
  ["samples that are no zlib", { pubs: [{ registers: [register(1, [], { samples: "AAAA" })] }] }],
  ["no bits", { pubs: [{ registers: [register(0, [])] }] }],
  ["less than no bits", { pubs: [{ registers: [register(-9, [1])] }] }],
  ["half a bit", { pubs: [{ registers: [register(1.5, [1])] }] }],
  ["more bits than there are", { pubs: [{ registers: [register(2 ** 40, [1])] }] }],
  ["more shots than are counted", { pubs: [{ registers: [register(1, MANY)] }] }],
  ["registers of different lengths", { pubs: [{ registers: [register(1, [0, 0]), register(1, [1])] }] }],
])("of what has %s there are no counts", (_what, result) => {
  expect(readCounts(result)).toBeNull();
});
