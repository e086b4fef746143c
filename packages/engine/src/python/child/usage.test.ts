import { expect, test } from "vitest";
import { applyUsage, createMeter, nameInputs } from "./usage.ts";
import { fail, notStarted } from "./answers.ts";
import type { Outcome } from "../port/runtime.ts";
import type { Usage } from "./usage.ts";

const USED = { cpuSeconds: 0.1234567, peakMemoryBytes: 5000, outOfMemoryKills: 0 };
const KILLED = { ...USED, peakMemoryBytes: 134 << 20, outOfMemoryKills: 1 };
const LIMIT = { memory: 0.1 };
const MEASURED = { _usage: { cpuSeconds: 0.123457, peakMemoryBytes: 134 << 20 } };
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
  expect(outcome).toMatchObject({ cpuSeconds: 0.123457 });
  const text = outcome.status === "SUCCEEDED" ? Buffer.from(outcome.metadata ?? []).toString() : "";
  expect(JSON.parse(text)).toEqual({ ...kept, _usage: { cpuSeconds: 0.123457, peakMemoryBytes: 5000 } });
});

test.each([
  ["an answer of what was left of it", succeed(null)],
  ["the end of its process", fail("EXECUTION_ERROR", "killed")],
])("a kill for memory decides over %s", (_, outcome) => {
  expect(applyUsage(outcome, KILLED, LIMIT)).toEqual({
    ...EXCEEDED,
    metadata: MEASURED,
    cpuSeconds: 0.123457,
  });
});

test("a peak that was not measured is not stated", () => {
  expect(applyUsage(succeed(null), { ...KILLED, peakMemoryBytes: null }, LIMIT)).toEqual({
    ...fail("OUT_OF_MEMORY", "The memory limit of 0.1 GB (102 MB) was exceeded."),
    metadata: { _usage: { cpuSeconds: 0.123457, peakMemoryBytes: null } },
    cpuSeconds: 0.123457,
  });
});

test.each([fail("CANCELLED", "asked"), fail("TIMEOUT", "late")])(
  "$code says what was used, and is not changed by a kill for memory",
  (outcome) => {
    expect(applyUsage(outcome, KILLED, LIMIT)).toEqual({
      ...outcome,
      metadata: MEASURED,
      cpuSeconds: 0.123457,
    });
  },
);

test.each([
  notStarted("worker", "no process"),
  { status: "UNKNOWN", code: "WORKER_LOST", detail: "lost" } as const,
])("$status $code is not changed by a kill for memory", (outcome) => {
  expect(applyUsage(outcome, KILLED, LIMIT)).toBe(outcome);
});

test.each([succeed(null), fail("TIMEOUT", "late")])(
  "without a measurement $status is not changed",
  (outcome) => {
    expect(applyUsage(outcome, null, LIMIT)).toBe(outcome);
  },
);

test("what is seen before a run is ended is kept: of processes that are gone, less can be read", () => {
  const meter = createMeter({ cpu: 1, memory: 0.1 });
  let now: Usage | null = USED;
  meter.attach(() => now);
  meter.look();
  now = { ...USED, cpuSeconds: 0.1, peakMemoryBytes: 7000, outOfMemoryKills: 0 };
  meter.take();
  now = { ...USED, cpuSeconds: 9 };
  meter.take();
  expect(meter.apply(fail("TIMEOUT", "late"))).toMatchObject({
    metadata: { _usage: { cpuSeconds: 0.123457, peakMemoryBytes: 7000 } },
  });
});

test("what was seen last counts where nothing can be read any more", () => {
  const meter = createMeter({ cpu: 1, memory: 0.1 });
  let now: Usage | null = USED;
  meter.attach(() => now);
  meter.look();
  now = null;
  meter.take();
  expect(meter.apply(fail("TIMEOUT", "late"))).toMatchObject({
    metadata: { _usage: { cpuSeconds: 0.123457, peakMemoryBytes: 5000 } },
  });
});

test("what was read by reference is named beside, also where the run failed, and not where nothing was", () => {
  const pin = {
    dataPoolId: "pool",
    dataSourceDescriptorId: "place",
    fileId: "file",
    sha256: "hash",
    bytes: 2,
  };
  const named = { data: { fileId: "file", sha256: "hash", bytes: 2 } };
  const metadata = Buffer.from('{"a":1}');
  const succeeded = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata } as const;
  const outcome = nameInputs(succeeded, { data: { ...pin, range: { start: 0, end: 1 } } });
  expect(outcome).toMatchObject({ metadata: Buffer.from(JSON.stringify({ a: 1, _inputs: named })) });
  expect(nameInputs({ status: "FAILED", code: "X", detail: "" }, { data: pin })).toMatchObject({
    metadata: { _inputs: named },
  });
  expect(nameInputs(succeeded, undefined)).toBe(succeeded);
});
