import { expect, test } from "vitest";
import { describeSample, groupSamples, readSampleSet } from "./read-sample-set.ts";

const array = (data: readonly unknown[]) => ({ type: "array", data });

/** As `SampleSet.to_serializable()` of dimod 0.12 writes three variables. */
const PACKED = {
  type: "SampleSet",
  sample_data: array([[5], [6]]),
  sample_packed: true,
  vectors: { energy: array([2, -1.5]), num_occurrences: array([1, 3]) },
  variable_labels: ["a", 7, ["q", 1]],
  variable_type: "BINARY",
};

test("samples are unpacked, the one with the least energy first, and labels need be no texts", () => {
  const set = readSampleSet(PACKED);
  expect(set?.rows.map((row) => [row.energy, row.occurrences, describeSample(set, row, 3)])).toEqual([
    [-1.5, 3, 'a=0 7=1 ["q",1]=1'],
    [2, 1, 'a=1 7=0 ["q",1]=1'],
  ]);
});

test("what was found several times is one row with all occurrences, also where what differs is not shown", () => {
  const vectors = { energy: array([2, -1.5, 2, 0]), num_occurrences: array([1, 3, 4, 1]) };
  const set = readSampleSet({ ...PACKED, sample_data: array([[5], [6], [5], [2]]), vectors });
  const rows = set === null ? [] : groupSamples(set, 1);
  expect(rows.map(({ energy, occurrences, sample }) => [energy, occurrences, sample])).toEqual([
    [-1.5, 3, "a=0 and 2 more"],
    [0, 1, "a=0 and 2 more"],
    [2, 5, "a=1 and 2 more"],
  ]);
});

test("more than 32 variables are several numbers, and spins are -1 and 1", () => {
  // {i: 1 if i % 3 else -1}, as dimod has packed it.
  const labels = Array.from({ length: 40 }, (_, index) => index);
  const set = readSampleSet({
    ...PACKED,
    sample_data: array([[3_067_833_782, 109]]),
    vectors: { energy: array([0]) },
    variable_labels: labels,
    variable_type: "SPIN",
  });
  expect(labels.map((place) => set?.rows[0]?.valueAt(place))).toEqual(
    labels.map((index) => (index % 3 === 0 ? -1 : 1)),
  );
});

test("samples that are not packed are taken as they are, and many variables are named in part", () => {
  const set = readSampleSet({
    ...PACKED,
    sample_packed: false,
    sample_data: array([
      [1, 2, 3],
      [4, 5, 6],
    ]),
  });
  expect(set?.rows.map((row) => describeSample(set, row, 1))).toEqual(["a=4 and 2 more", "a=1 and 2 more"]);
});

test.each<readonly [string, object]>([
  ["no samples", { sample_data: 7 }],
  ["fewer energies than samples", { vectors: { energy: array([1]) } }],
  ["energies that are no numbers", { vectors: { energy: array(["low", "high"]) } }],
  ["samples of too few numbers", { sample_data: array([[], []]) }],
  ["no variables", { variable_labels: null }],
])("what has %s is no sample set", (_what, more) => {
  expect(readSampleSet({ ...PACKED, ...more })).toBeNull();
});
