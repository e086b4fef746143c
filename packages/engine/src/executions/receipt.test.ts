import { expect, test } from "vitest";
import type { ExecutionRecord } from "../store/execution-store.ts";
import { describeReceipt } from "./receipt.ts";

const AT = Date.parse("2026-11-24T17:00:00Z");
const FAILED = { number: 1, startedAt: AT, endedAt: AT, code: "WORKER_LOST", detail: "" };
const VERSION = { service: "tsp", version: "1.0.0", contentHash: "0".repeat(64) };
const DIGESTS = { input: null, result: null, files: [], metadata: null };

const describeAttempts = (more: Partial<ExecutionRecord>) => {
  const record: ExecutionRecord = {
    id: "0198c1de-7a53-7000-8000-000000000000",
    ownerId: "owner",
    versionId: "version",
    resources: { cpu: 1, memory: 1 },
    status: "FAILED",
    createdAt: AT,
    startedAt: AT,
    endedAt: AT,
    sandboxLevel: "B",
    failure: { code: "TIMEOUT", detail: "" },
    ...more,
  };
  return describeReceipt(record, DIGESTS, VERSION).attempts;
};

test("a receipt counts the attempts of an execution that has had more than one", () => {
  expect(describeAttempts({})).toBe(undefined);
  expect(describeAttempts({ attempts: [FAILED] })).toBe(2);
  expect(describeAttempts({ attempts: [FAILED, { ...FAILED, number: 2 }] })).toBe(3);
});

test("an attempt that has not begun is none: the execution was cancelled before it", () => {
  expect(describeAttempts({ attempts: [FAILED], startedAt: null })).toBe(undefined);
  expect(describeAttempts({ attempts: [FAILED, { ...FAILED, number: 2 }], startedAt: null })).toBe(2);
});
