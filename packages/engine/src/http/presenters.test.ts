import { expect, test } from "vitest";
import type { ExecutionRecord } from "../store/execution-store.ts";
import { toAttempts, toStatusRecord } from "./presenters.ts";

const AT = Date.parse("2026-11-24T17:00:00Z");

const RECORD: ExecutionRecord = {
  id: "0198c1de-7a53-7000-8000-000000000000",
  ownerId: "owner",
  versionId: "version",
  resources: { cpu: 1, memory: 1 },
  status: "PENDING",
  createdAt: AT,
  startedAt: null,
  endedAt: null,
  sandboxLevel: null,
  failure: null,
};

/** One that failed and is followed by another. */
const FAILED = {
  number: 1,
  startedAt: AT + 1_000,
  endedAt: AT + 2_000,
  code: "CONNECTION_ERROR",
  detail: "no answer",
};
const ON_THE_WIRE = {
  attempt: 1,
  startedAt: "2026-11-24 17:00:01",
  endedAt: "2026-11-24 17:00:02",
  code: "CONNECTION_ERROR",
  detail: "no answer",
};

test("an execution with one attempt lists none", () => {
  const ended = { ...RECORD, status: "SUCCEEDED", startedAt: AT + 1_000, endedAt: AT + 2_000 } as const;
  expect(toAttempts(ended)).toEqual([]);
  expect(toStatusRecord(ended)).not.toHaveProperty("attempts");
});

test("while the next attempt is waited for, those that are over are listed", () => {
  const waiting = { ...RECORD, attempts: [FAILED, { ...FAILED, number: 2, detail: "" }] };
  const { detail: _removed, ...second } = { ...ON_THE_WIRE, attempt: 2 };
  expect(toAttempts(waiting)).toEqual([ON_THE_WIRE, second]);
  expect(toStatusRecord(waiting).attempts).toEqual([ON_THE_WIRE, second]);
});

test("the attempt that runs is the last of the list, and has an end and a code when it has them", () => {
  const running = { ...RECORD, status: "RUNNING", startedAt: AT + 5_000, attempts: [FAILED] } as const;
  const last = { attempt: 2, startedAt: "2026-11-24 17:00:05" };
  expect(toAttempts(running)).toEqual([ON_THE_WIRE, last]);
  const succeeded = { ...running, status: "SUCCEEDED", endedAt: AT + 6_000 } as const;
  const ended = { ...last, endedAt: "2026-11-24 17:00:06" };
  expect(toAttempts(succeeded)).toEqual([ON_THE_WIRE, ended]);
  const failure = { code: "TIMEOUT", detail: "too long" };
  expect(toAttempts({ ...succeeded, status: "FAILED", failure })).toEqual([
    ON_THE_WIRE,
    { ...ended, code: "TIMEOUT" },
  ]);
});

test("the deadline of a start is shown while it can end the execution, and no longer", () => {
  const bound = { ...RECORD, startBy: AT + 600_000 };
  expect(toStatusRecord(bound).startBy).toBe("2026-11-24 17:10:00");
  for (const free of [
    RECORD,
    { ...bound, attempts: [FAILED] },
    { ...bound, status: "RUNNING", startedAt: AT } as const,
    { ...bound, status: "FAILED", endedAt: AT } as const,
  ])
    expect(toStatusRecord(free)).not.toHaveProperty("startBy");
});
