import { expect, test } from "vitest";
import { describeMetadata } from "./describe-metadata.ts";

test("what a backend says is shown in words, whatever it is", () => {
  const software = { qiskit: "2.1.0", other: 3 };
  expect(describeMetadata(JSON.stringify({ seconds: 0.5, method: "statevector", software }))).toEqual({
    Took: "500 ms",
    Method: "statevector",
    Software: "qiskit 2.1.0, other 3",
  });
  const hostile = { software: { numpy: { toString: 1, valueOf: 1 } }, constructor: "x".repeat(300) };
  expect(describeMetadata(JSON.stringify(hostile))).toEqual({
    Software: 'numpy {"toString":1,"valueOf":1}',
    constructor: `${"x".repeat(200)}…`,
  });
  expect(describeMetadata("[1]")).toEqual({});
});
