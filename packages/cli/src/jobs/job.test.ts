import { expect, test } from "vitest";
import { printStatus } from "./job.ts";
import { createOutput } from "../base/output.ts";

function show(job: Parameters<typeof printStatus>[1]): readonly string[] {
  let text = "";
  const stream = { write: (part: string) => (text += part), isTerminal: false };
  printStatus(createOutput({ out: stream, err: stream, isJson: false, noColor: true }), job, {});
  return text.trimEnd().split("\n");
}

test("the state of a waiting job says what it waits for, and how long", () => {
  const job = { id: "1", status: "PENDING", createdAt: "2026-11-22 01:00:00", terminal: false } as const;
  expect(show({ ...job, waiting: { reason: "NO_WORKER" } })[2]).toMatch(/^Waiting {2}NO_WORKER: .*worker/);
  expect(show({ ...job, waiting: { reason: "OF_LATER" } })[2]).toBe("Waiting  OF_LATER");
  const queued = { reason: "QUEUE", position: 12, estimateSeconds: 30 };
  expect(show({ ...job, waiting: queued })[2]).toMatch(
    /^Waiting {2}QUEUE: .*; 12 before it, starts in about 30 s$/,
  );
  expect(show(job)).toHaveLength(3);
});

test("the state of a finished job says until when it is kept", () => {
  const job = { id: "1", status: "SUCCEEDED", createdAt: "2026-11-22 01:00:00", terminal: true } as const;
  expect(show({ ...job, expiresAt: "2026-12-22 01:00:00" }).at(-1)).toBe("Expires  2026-12-22 01:00:00");
});
