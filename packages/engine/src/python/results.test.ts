import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixture } from "../testing/python-fixture.ts";
import type { NotStarted, Outcome } from "./port/runtime.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ limits: { resultBytes: 1_000_000 } });
});
afterAll(() => fixture.close());

/** One version for all returned values: the expression comes in as input. */
const PROGRAM = `
import enum, datetime, types
from dataclasses import dataclass

class Array:
    """What numpy's arrays and scalars offer, as far as the runtime looks: it never imports numpy itself."""
    dtype = "float64"
    def __init__(self, value):
        self.value = value
    def tolist(self):
        return self.value

class Colour(enum.Enum):
    RED = "red"

@dataclass
class Tour:
    length: float
    cities: list

@dataclass
class Envelope:
    result: object
    metadata: object = None

@dataclass
class Wide:
    result: int
    iterations: int

class Refusal(Exception):
    def __init__(self, code, detail):
        self.code, self.detail = code, detail

class Node:
    pass

loop = {"a": []}
loop["a"].append(loop)
deep = []
for _ in range(100_000):
    deep = [deep]

def fail(code, detail):
    raise Refusal(code, detail)

def run(params):
    return eval(params["value"])
`;

let version: ReturnType<Fixture["createVersion"]>;
beforeAll(() => {
  version = fixture.createVersion(PROGRAM);
});

test.each(["NOT_STARTED", "WORKER_LOST"])(
  "a service cannot choose the code %s, which takes an execution out of the count of a plan",
  async (code) => {
    const params = { value: `fail('${code}', 'chosen')` };
    const { outcome } = await fixture.finish(version, { params });
    expect(outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR", detail: "chosen" });
  },
);

test.each([
  ["{'a': 1, 2: (3, None)}", { a: 1, 2: [3, null] }],
  ["None", {}],
  ["5", { value: 5 }],
  ["'text'", { value: "text" }],
  ["[1, 'ö', True]", { value: [1, "ö", true] }],
  ["Tour(1.5, [Tour(2.5, [])])", { length: 1.5, cities: [{ length: 2.5, cities: [] }] }],
  ["Colour.RED", { value: "red" }],
  ["{'c': Colour.RED}", { c: "red" }],
  ["Wide(1, 2)", { result: 1, iterations: 2 }],
  ["Array(1.5)", { value: 1.5 }],
  ["Array([0, 1, 2])", { value: [0, 1, 2] }],
  ["{'a': Array([[1, 2]]), 'n': [Array(7)]}", { a: [[1, 2]], n: [7] }],
])("run may return %s", async (value, expected) => {
  const finished = await fixture.finish(version, { params: { value } });
  expect(finished.result).toEqual(expected);
  expect(readMetadata(finished.outcome)).toBeNull();
});

test.each([
  ["Envelope({'a': 1}, {'seconds': 2})", { a: 1 }, { seconds: 2 }],
  ["Envelope(5)", { value: 5 }, null],
  ["types.SimpleNamespace(result=[1], metadata={'m': 1}, other=3)", { value: [1] }, { m: 1 }],
])("an object with result and metadata sets both: %s", async (value, expected, metadata) => {
  const { result, outcome } = await fixture.finish(version, { params: { value } });
  expect(result).toEqual(expected);
  expect(readMetadata(outcome)).toEqual(metadata);
});

test("the bytes of a result are ASCII", async () => {
  const { outcome } = await fixture.finish(version, {
    params: { value: "{'ö': '\\U0001F600 \\ud800 \\0'}" },
  });
  const bytes = outcome.status === "SUCCEEDED" ? [...outcome.result] : [];
  expect(bytes.length).toBeGreaterThan(10);
  expect(Math.max(...bytes)).toBeLessThan(127);
});

test.each([
  ["types.SimpleNamespace(code='NO_TOUR', detail='too few cities')"],
  ["fail('NO_TOUR', 'too few cities')"],
])("code and detail of %s are told exactly", async (value) => {
  const { outcome } = await fixture.finish(version, { params: { value } });
  expect(outcome).toMatchObject({ status: "FAILED", code: "NO_TOUR", detail: "too few cities" });
});

test("code and detail of any length are cut to what a list of executions can show", async () => {
  const { outcome } = await fixture.finish(version, {
    params: { value: "fail('C' * 1_000_000, 'D' * 1_000_000)" },
  });
  expect(outcome).toMatchObject({ status: "FAILED", code: "C".repeat(128), detail: `${"D".repeat(7999)}…` });
});

test.each([
  ["{'a': [1, float('nan')]}", "The result is not JSON: the number nan at /a/1."],
  ["float('inf')", "The result is not JSON: the number inf at /value."],
  ["{'a': {1, 2}}", "The result is not JSON: a value of type set at /a."],
  ["loop", "The result is not JSON: a circular reference at /a/0."],
  ["deep", "The result is nested too deeply to be JSON."],
  ["{'a': {(1, 2): 3}}", "The result is not JSON: a key of type tuple at /a/(1, 2)."],
  ["{'t': datetime.datetime.now()}", "The result is not JSON: a value of type datetime at /t."],
  ["Node()", "The result is not JSON: a value of type Node at /value."],
  ["{'c': Array(1j)}", "The result is not JSON: a value of type complex at /c."],
  ["Envelope({}, [1])", "metadata must be an object, not of type list."],
])("%s is no result", async (value, detail) => {
  const { outcome } = await fixture.finish(version, { params: { value } });
  expect(outcome).toMatchObject({ status: "FAILED", code: "INVALID_RESULT", detail });
});

test("a version may return and print less than the platform allows, never more", async () => {
  const program =
    "def run(data):\n    for _ in range(data.get('print', 0)): print('x' * 1000)\n    return 'x' * data['return']\n";
  const generous = await createFixture();
  try {
    const small = generous.createVersion(program, { output: { resultMegabytes: 1, logMegabytes: 1 } });
    expect((await generous.finish(small, { data: { return: 1_048_000 } })).outcome.status).toBe("SUCCEEDED");
    expect((await generous.finish(small, { data: { return: 1_048_577 } })).outcome).toMatchObject({
      code: "RESULT_TOO_LARGE",
      detail: expect.stringContaining("1048576 bytes"),
    });
    const { lines } = await generous.finish(small, { data: { print: 2000, return: 1 } });
    expect(lines.length).toBeLessThan(1050);
    expect(lines.at(-1)?.message).toContain("further output is dropped");
  } finally {
    await generous.close();
  }
  const large = fixture.createVersion(program, { output: { resultMegabytes: 16 } });
  expect((await fixture.finish(large, { data: { return: 1_000_001 } })).outcome).toMatchObject({
    code: "RESULT_TOO_LARGE",
  });
});

test("a result of exactly the limit is one, and one of a byte more is not", async () => {
  const withinLimit = await fixture.finish(version, { params: { value: "'x' * 999_988" } });
  expect(withinLimit.outcome).toMatchObject({ status: "SUCCEEDED", result: { length: 1_000_000 } });
  const { outcome } = await fixture.finish(version, { params: { value: "'x' * 999_989" } });
  const detail = "The result has 1000001 bytes of JSON text, the limit is 1000000 bytes.";
  expect(outcome).toMatchObject({ status: "FAILED", code: "RESULT_TOO_LARGE", detail });
});

test("a result above the limit is refused with both sizes", async () => {
  const { outcome } = await fixture.finish(version, { params: { value: "'x' * 50_000_000" } });
  const detail = "The result has 50000012 bytes of JSON text, the limit is 1000000 bytes.";
  expect(outcome).toMatchObject({ status: "FAILED", code: "RESULT_TOO_LARGE", detail });
});

/** Without what the platform measured; null: the code gave none. */
function readMetadata(outcome: Outcome | NotStarted): unknown {
  if (outcome.status !== "SUCCEEDED" || outcome.metadata === null) return null;
  const { _usage, ...given } = JSON.parse(Buffer.from(outcome.metadata).toString()) as Record<
    string,
    unknown
  >;
  return Object.keys(given).length === 0 ? null : given;
}
