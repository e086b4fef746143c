import { describe, expect, test } from "vitest";
import { Check } from "typebox/schema";
import { RetryPolicySchema } from "@platform/contract/retries";
import type { RetryPolicy } from "@platform/contract/retries";
import type { Outcome } from "../python/port/runtime.ts";
import { chooseRetryPause, cutDetail, describeAttempt, isRetriedWhenLost } from "./retry-rules.ts";
import type { FailedAttempt } from "./retry-rules.ts";

const TIMES = { startedAt: 1_000, now: 2_000 };
const HOUR_MS = 3_600_000;
const ON_ERROR: RetryPolicy = { onError: { max: 3, backoffSeconds: 10 } };

const fail = (code: string): Outcome => ({ status: "FAILED", code, detail: "" });
const LOST: Outcome = { status: "UNKNOWN", code: "WORKER_LOST", detail: "" };
const SUCCEEDED: Outcome = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null };

function attemptsBefore(count: number, startedAt = 0): readonly FailedAttempt[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    startedAt,
    endedAt: startedAt + 1,
    code: "EXECUTION_ERROR",
    detail: "",
  }));
}

function follows(retries: RetryPolicy, before: number, outcome: Outcome): boolean {
  return chooseRetryPause({ retries, attempts: attemptsBefore(before) }, outcome, TIMES) !== null;
}

describe("another attempt follows", () => {
  test.each<[string, RetryPolicy, Outcome, boolean]>([
    ["an exception", ON_ERROR, fail("EXECUTION_ERROR"), true],
    ["a backend that is away", ON_ERROR, fail("CONNECTION_ERROR"), true],
    ["a code of the service's own", ON_ERROR, fail("QUEUE_FULL"), true],
    ["a time limit, unless it is named", ON_ERROR, fail("TIMEOUT"), false],
    ["memory, unless it is named", ON_ERROR, fail("OUT_OF_MEMORY"), false],
    ["input that does not fit", ON_ERROR, fail("INVALID_INPUT"), false],
    ["a result that is none", ON_ERROR, fail("INVALID_RESULT"), false],
    ["code that cannot be loaded", ON_ERROR, fail("STARTUP_ERROR"), false],
    ["a cancellation", ON_ERROR, fail("CANCELLED"), false],
    ["what could not be started", ON_ERROR, fail("NOT_STARTED"), false],
    ["success", ON_ERROR, SUCCEEDED, false],
    ["a lost worker that nobody spoke of", ON_ERROR, LOST, false],
    ["a lost worker", { onLost: "retry" }, LOST, true],
    ["a lost worker that is to be UNKNOWN", { onLost: "unknown" }, LOST, false],
    ["an exception where only lost workers count", { onLost: "retry" }, fail("EXECUTION_ERROR"), false],
  ])("%s", (_, retries, outcome, isRetried) => {
    expect(chooseRetryPause({ retries }, outcome, TIMES) !== null).toBe(isRetried);
  });

  test("named codes are the only ones, and a cancellation is none of them though it is named", () => {
    const retries: RetryPolicy = {
      onError: { max: 1, backoffSeconds: 0, codes: ["TIMEOUT", "CANCELLED", "NOT_STARTED"] },
    };
    const isRetried = (code: string) => chooseRetryPause({ retries }, fail(code), TIMES) !== null;
    expect(["TIMEOUT", "EXECUTION_ERROR", "CANCELLED", "NOT_STARTED"].map(isRetried)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("nothing without a policy", () => {
    expect(chooseRetryPause({}, fail("EXECUTION_ERROR"), TIMES)).toBeNull();
    expect(chooseRetryPause({ retries: undefined }, LOST, TIMES)).toBeNull();
    expect(chooseRetryPause({ retries: {} }, LOST, TIMES)).toBeNull();
  });

  test("as often as the service says, and lost workers count", () => {
    const retries: RetryPolicy = { ...ON_ERROR, onLost: "retry" };
    const raised = fail("EXECUTION_ERROR");
    expect([0, 1, 2, 3, 4].map((count) => follows(retries, count, raised))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect([2, 3].map((count) => follows(retries, count, LOST))).toEqual([true, false]);
  });

  test("twice after a lost worker where the service gives no number", () => {
    expect([0, 1, 2].map((count) => follows({ onLost: "retry" }, count, LOST))).toEqual([true, true, false]);
    expect(isRetriedWhenLost({ retries: { onLost: "retry" }, attempts: attemptsBefore(1) }, TIMES)).toBe(
      true,
    );
  });

  test("after a pause that doubles up to its limit, less a quarter at most", () => {
    const retries: RetryPolicy = { onError: { max: 9, backoffSeconds: 10, maxBackoffSeconds: 60 } };
    const pauses = (random: number) =>
      [0, 1, 2, 3, 8].map((count) =>
        chooseRetryPause(
          { retries, attempts: attemptsBefore(count) },
          fail("EXECUTION_ERROR"),
          TIMES,
          random,
        ),
      );
    expect(pauses(0)).toEqual([10, 20, 40, 60, 60]);
    expect(pauses(1)).toEqual([7.5, 15, 30, 45, 45]);
    const unbounded: RetryPolicy = { onError: { max: 9, backoffSeconds: 3_600 } };
    expect(chooseRetryPause({ retries: unbounded, attempts: attemptsBefore(8) }, fail("X"), TIMES, 0)).toBe(
      3_600,
    );
  });

  test("after a lost worker without a pause: its lease was the pause", () => {
    const retries: RetryPolicy = { ...ON_ERROR, onLost: "retry" };
    expect(chooseRetryPause({ retries }, LOST, TIMES)).toBe(0);
  });

  test("never later than a day after the first attempt began, with the pause", () => {
    const attempted = { retries: ON_ERROR, attempts: attemptsBefore(1) };
    const pauses = [24 * HOUR_MS - 20_000, 24 * HOUR_MS - 19_999].map((now) =>
      chooseRetryPause(attempted, fail("EXECUTION_ERROR"), { startedAt: now - 1, now }, 0),
    );
    expect(pauses).toEqual([20, null]);
  });
});

describe("the policy", () => {
  const onError = { max: 1, backoffSeconds: 0 };

  test.each<[string, unknown, boolean]>([
    ["is empty", {}, true],
    ["has both", { onLost: "retry", onError: { ...onError, maxBackoffSeconds: 5, codes: ["A"] } }, true],
    ["has another word", { onLost: "always" }, false],
    ["has a key that is unknown", { onLost: "retry", onTimeout: 1 }, false],
    ["has ten retries, so eleven attempts", { onError: { ...onError, max: 10 } }, false],
    ["has nine retries", { onError: { ...onError, max: 9 } }, true],
    ["has no retry", { onError: { ...onError, max: 0 } }, false],
    ["has half a retry", { onError: { ...onError, max: 0.5 } }, false],
    ["does not say how long it pauses", { onError: { max: 1 } }, false],
    ["pauses for longer than an hour", { onError: { max: 1, backoffSeconds: 3_601 } }, false],
    ["pauses backwards", { onError: { max: 1, backoffSeconds: -1 } }, false],
    ["retries no code", { onError: { ...onError, codes: [] } }, false],
    ["retries an empty code", { onError: { ...onError, codes: [""] } }, false],
    ["retries cancellations", { onError: { ...onError, codes: ["TIMEOUT", "CANCELLED"] } }, false],
    [
      "retries a code that begins as one that it cannot",
      { onError: { ...onError, codes: ["CANCELLED_BY_US"] } },
      true,
    ],
    [
      "retries too many codes",
      { onError: { ...onError, codes: Array.from({ length: 21 }, (_, n) => `C${n}`) } },
      false,
    ],
  ])("that %s", (_, policy, isValid) => {
    expect(Check(RetryPolicySchema, policy)).toBe(isValid);
  });
});

test("the log names the attempt, how many there are at most, and why", () => {
  expect(describeAttempt({ retries: ON_ERROR })).toBeNull();
  expect(describeAttempt({ retries: ON_ERROR, attempts: attemptsBefore(1) })).toBe(
    "Attempt 2 of 4 begins; attempt 1 ended with EXECUTION_ERROR.",
  );
});

test("a detail that is kept has 500 characters at most", () => {
  expect(cutDetail("x".repeat(500))).toBe("x".repeat(500));
  expect(cutDetail("x".repeat(501))).toBe(`${"x".repeat(499)}…`);
});
