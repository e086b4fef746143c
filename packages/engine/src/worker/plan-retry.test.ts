import { expect, test } from "vitest";
import type { Outcome } from "../python/port/runtime.ts";
import { createDeferred } from "../base/deferred.ts";
import { createClaimOf } from "../testing/execution-fixtures.ts";
import { planRetry } from "./plan-retry.ts";

const claim = { ...createClaimOf("worker"), retries: { onError: { max: 1, backoffSeconds: 0 } } };
const outcome: Outcome = { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: no" };
const ENDED = { kind: "outcome", outcome, mayRetry: true } as const;
const GONE = { ended: Promise.resolve() };

test("a failure that may be tried again is, when all its processes have ended", async () => {
  const ended = createDeferred<undefined>();
  let isPlanned = false;
  const plan = Promise.resolve(planRetry({ claim, run: { ended: ended.promise }, ranMs: 1 }, ENDED)).then(
    (retry) => {
      isPlanned = true;
      return retry;
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(isPlanned).toBe(false);
  ended.resolve(undefined);
  expect(await plan).toEqual({ outcome, pauseSeconds: 0 });
});

test("a failure whose processes do not end is the end: nothing runs beside them", async () => {
  const run = { ended: createDeferred<undefined>().promise };
  expect(await planRetry({ claim, run, ranMs: 1 }, ENDED, 1)).toBeNull();
});

test("nothing is waited for, and nothing follows, where the service has chosen nothing", () => {
  const { retries: _retries, ...plain } = claim;
  expect(planRetry({ claim: plain, run: GONE, ranMs: 1 }, ENDED)).toBeNull();
});

test("what was cancelled, never ran or succeeded is not tried again", async () => {
  const on = { claim, run: GONE, ranMs: 1 };
  expect(await planRetry(on, ENDED)).not.toBeNull();
  expect(await planRetry(on, { ...ENDED, mayRetry: false })).toBeNull();
  expect(await planRetry(on, { kind: "outcome", outcome })).toBeNull();
  expect(await planRetry(on, { kind: "stopped" })).toBeNull();
  const succeeded: Outcome = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null };
  expect(await planRetry(on, { ...ENDED, outcome: succeeded })).toBeNull();
});
