import { expect, test } from "vitest";
import { applyUsage } from "./usage.ts";
import { fail, notStarted } from "./answers.ts";
import type { Outcome } from "../port/runtime.ts";

const USED = { cpuSeconds: 0.1234567, peakMemoryBytes: 5000, outOfMemoryKills: 0 };
const KILLED = { ...USED, peakMemoryBytes: 134 << 20, outOfMemoryKills: 1 };
const LIMIT = { memory: 0.1 };
const EXCEEDED = fail(
  "OUT_OF_MEMORY",
  "The memory limit of 0.1 GB (102 MB) was exceeded: the execution used 134 MB at its peak.",
);

function succeed(metadata: string | null): Outcome {
  return {
    status: "SUCCEEDED",
    result: Buffer.from("{}"),
    metadata: metadata === null ? null : Buffer.from(metadata),
  };
}

test.each([
  [null, {}],
  ["{}", {}],
  ['{"seconds":2}', { seconds: 2 }],
  ['{"_usage":"forged","a":"}"}', { a: "}" }],
])("what was measured is added to the metadata %s", (given, kept) => {
  const outcome = applyUsage(succeed(given), USED, LIMIT);
  const text = outcome.status === "SUCCEEDED" ? Buffer.from(outcome.metadata ?? []).toString() : "";
  expect(JSON.parse(text)).toEqual({ ...kept, _usage: { cpuSeconds: 0.123457, peakMemoryBytes: 5000 } });
});

test.each([
  ["an answer of what was left of it", succeed(null)],
  ["the end of its process", fail("EXECUTION_ERROR", "killed")],
])("a kill for memory decides over %s", (_, outcome) => {
  expect(applyUsage(outcome, KILLED, LIMIT)).toEqual(EXCEEDED);
});

test("a peak that was not measured is not stated", () => {
  expect(applyUsage(succeed(null), { ...KILLED, peakMemoryBytes: null }, LIMIT)).toEqual(
    fail("OUT_OF_MEMORY", "The memory limit of 0.1 GB (102 MB) was exceeded."),
  );
});

test.each([
  fail("CANCELLED", "asked"),
  fail("TIMEOUT", "late"),
  notStarted("worker", "no process"),
  { status: "UNKNOWN", code: "WORKER_LOST", detail: "lost" } as const,
])("$status $code is not changed by a kill for memory", (outcome) => {
  expect(applyUsage(outcome, KILLED, LIMIT)).toBe(outcome);
});

test("without a measurement nothing is changed", () => {
  const outcome = succeed(null);
  expect(applyUsage(outcome, null, LIMIT)).toBe(outcome);
});
