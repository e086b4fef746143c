import { Check } from "typebox/schema";
import { describe, expect, test } from "vitest";
import {
  EXECUTION_STATES,
  EXECUTION_STATUSES,
  StartBodySchema,
  canMove,
  formatTimestamp,
  isExecutionStatus,
  isFinal,
} from "./execution.ts";

const { PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN } = {
  PENDING: "PENDING",
  RUNNING: "RUNNING",
  SUCCEEDED: "SUCCEEDED",
  FAILED: "FAILED",
  UNKNOWN: "UNKNOWN",
} as const;

describe("the states of an execution", () => {
  test("are these five", () => {
    expect([...EXECUTION_STATUSES].sort()).toEqual([FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN]);
    expect(EXECUTION_STATUSES.every(isExecutionStatus)).toBe(true);
  });

  test.each(["", "pending", "DONE", "CANCELLED", "toString", "__proto__", "constructor"])(
    "do not include %j",
    (text) => {
      expect(isExecutionStatus(text)).toBe(false);
    },
  );

  // Rows move to columns, in the order of the list.
  const ORDER = [PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN];
  test.each([
    [PENDING, [false, true, false, true, false]],
    [RUNNING, [true, false, true, true, true]],
    [SUCCEEDED, [false, false, false, false, false]],
    [FAILED, [false, false, false, false, false]],
    [UNKNOWN, [false, false, false, false, false]],
  ] as const)("%s moves as the specification says, and in no other way", (from, moves) => {
    expect(ORDER.map((to) => canMove(from, to))).toEqual(moves);
  });

  test.each([
    [PENDING, false],
    [RUNNING, false],
    [SUCCEEDED, true],
    [FAILED, true],
    [UNKNOWN, true],
  ] as const)("%s: final is %s", (status, final) => {
    expect(isFinal(status)).toBe(final);
  });

  test("each say what they mean", () => {
    for (const { meaning } of Object.values(EXECUTION_STATES)) expect(meaning).toMatch(/^\S.+[^.]$/);
  });
});

test.each([
  [Date.UTC(2026, 10, 20, 21, 17, 0, 999), "2026-11-20 21:17:00"],
  [0, "1970-01-01 00:00:00"],
  [Date.UTC(2028, 1, 29, 23, 59, 59), "2028-02-29 23:59:59"],
])("the time %i is shown in UTC to the second", (time, text) => {
  expect(formatTimestamp(time)).toBe(text);
});

describe("the body of a start", () => {
  const reference = {
    dataPoolId: "11111111-1111-4111-8111-111111111111",
    dataSourceDescriptorId: "22222222-2222-4222-8222-222222222222",
    fileId: "33333333-3333-4333-8333-333333333333",
  };

  test.each([
    [{}],
    [{ data: {} }],
    [{ data: { a: [1, null] }, params: { b: "c" } }],
    [{ dataRef: reference }],
    [{ data: {}, paramsRef: reference }],
    [{ dataRef: reference, params: {} }],
    [{ dataRef: reference, paramsRef: reference }],
    [{ persistTo: { dataPoolId: reference.dataPoolId } }],
    [{ data: {}, persistTo: { dataPoolId: reference.dataPoolId, name: "route.json" } }],
  ])("may be %j by its schema", (body) => {
    expect(Check(StartBodySchema, body)).toBe(true);
  });

  test.each([
    [{ data: {}, dataRef: reference }],
    [{ params: {}, paramsRef: reference }],
    [{ data: {}, dataRef: reference, params: {} }],
    [{ data: [] }],
    [{ params: null }],
    [{ dataRef: { ...reference, fileId: "x" } }],
    [{ dataRef: { ...reference, more: 1 } }],
    [{ persistTo: {} }],
    [{ persistTo: { dataPoolId: "x" } }],
    [{ persistTo: { dataPoolId: reference.dataPoolId, more: 1 } }],
    [{ shots: 1 }],
    [[]],
    ["x"],
  ])("may not be %j by its schema", (body) => {
    expect(Check(StartBodySchema, body)).toBe(false);
  });
});
