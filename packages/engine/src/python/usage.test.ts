import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLimitedFixture, LIMITED_LEVELS } from "../testing/limited-levels.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { NotStarted, Outcome, RunnableVersion } from "./port/runtime.ts";

/**
 * Takes 50 MB and a quarter of a second of a processor, then does what `data.code` says. Where processes are looked at, the first looks come
 * before, and where it has much memory the next one a second later.
 */
const PROGRAM = `
import mmap, os, time
def run(data):
    time.sleep(0.2)
    taken = bytearray(50 << 20)
    end = time.process_time() + 0.25
    while time.process_time() < end: pass
    print("used")
    exec(data["code"])
`;
const FAILURES = [
  ["raises", "EXECUTION_ERROR", "raise ValueError('no')"],
  ["answers with a code of its own", "NO", "raise type('No', (Exception,), {'code': 'NO', 'detail': 'no'})"],
  ["exceeds its time limit", "TIMEOUT", "time.sleep(60)"],
  ["raises MemoryError", "OUT_OF_MEMORY", "more = bytearray(400 << 20)"],
  [
    "is killed for its memory",
    "OUT_OF_MEMORY",
    "m = mmap.mmap(-1, 400 << 20)\nfor at in range(0, len(m), 4096): m[at] = 1\ntime.sleep(60)",
  ],
  // Long enough to be looked at: of a process that is gone, nothing can be read any more.
  ["ends its process", "EXECUTION_ERROR", "time.sleep(5)\nos._exit(3)"],
] as const;

describe.each(LIMITED_LEVELS)("at level %s, measured by %s", (level, bounds) => {
  const isCounted = bounds === "control groups";
  let fixture: Fixture;
  let version: RunnableVersion;
  beforeAll(async () => {
    fixture = await createLimitedFixture(level, bounds);
    version = fixture.createVersion(PROGRAM, { resources: { cpu: 1, memory: 0.1 } });
  });
  afterAll(() => fixture.close());

  function expectUsage(outcome: Outcome | NotStarted, most: number): void {
    const metadata = readMetadata(outcome);
    expect(metadata).toEqual({
      _usage: {
        cpuSeconds: expect.any(Number),
        peakMemoryBytes: expect.any(Number),
        ...(isCounted ? {} : { sampled: true }),
      },
    });
    const { cpuSeconds = 0, peakMemoryBytes = 0 } = metadata["_usage"] ?? {};
    expect(cpuSeconds).toBeGreaterThan(0.2);
    expect(cpuSeconds).toBeLessThan(1);
    expect(peakMemoryBytes).toBeGreaterThan(50 << 20);
    expect(peakMemoryBytes).toBeLessThan(most);
  }

  test("a result says what the execution used", async () => {
    const { outcome } = await fixture.finish(version, { data: { code: "pass" } });
    expect(outcome.status).toBe("SUCCEEDED");
    expectUsage(outcome, 90 << 20);
  });

  test("what was used is said of every execution that answers, however short it is", async () => {
    const short = fixture.createVersion("def run(): return 1");
    for (let count = 0; count < 60; count += 1) {
      const { peakMemoryBytes = 0 } = readMetadata((await fixture.finish(short)).outcome)["_usage"] ?? {};
      expect(peakMemoryBytes).toBeGreaterThan(0);
    }
  });

  test.each(FAILURES)("what was used is said of an execution that %s", async (_name, code, text) => {
    const limit = code === "TIMEOUT" ? { timeoutSeconds: 5 } : {};
    const { outcome } = await fixture.finish(version, { data: { code: text }, ...limit });
    expect(outcome).toMatchObject({ status: "FAILED", code });
    expectUsage(outcome, code === "OUT_OF_MEMORY" ? 500 << 20 : 90 << 20);
  });

  test("what was used is said of an execution that is cancelled between two looks", async () => {
    const roomy = fixture.createVersion(PROGRAM, { resources: { cpu: 1, memory: 2 } });
    const run = fixture.start(roomy, { data: { code: "time.sleep(60)" } });
    await waitFor("it has used something", () => run.lines.length > 0);
    run.kill({ code: "CANCELLED", detail: "asked" });
    const outcome = await run.outcome;
    await run.ended;
    expect(outcome).toMatchObject({ status: "FAILED", code: "CANCELLED" });
    expectUsage(outcome, 90 << 20);
  });

  test("what was never seen is not said to be nothing", async () => {
    const { outcome } = await fixture.finish(fixture.createVersion("import os\ndef run(): os._exit(3)"));
    expect(outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR" });
    const { peakMemoryBytes } = readMetadata(outcome)["_usage"] ?? {};
    expect(peakMemoryBytes === undefined || peakMemoryBytes > 0).toBe(true);
    expect(isCounted && peakMemoryBytes === undefined).toBe(false);
  });

  test("nothing is said of an execution that never began", async () => {
    const run = fixture.start(fixture.createVersion(`import time\ntime.sleep(0.3)\n${PROGRAM}`));
    run.kill({ code: "CANCELLED", detail: "asked" });
    expect(await run.outcome).toEqual({ status: "FAILED", code: "CANCELLED", detail: "asked" });
    await run.ended;
  });
});

function readMetadata(outcome: Outcome | NotStarted): Record<string, Record<string, number>> {
  if (outcome.status === "FAILED") return { ...outcome.metadata } as Record<string, Record<string, number>>;
  const text = outcome.status === "SUCCEEDED" ? (outcome.metadata ?? []) : [];
  return JSON.parse(Buffer.from(text).toString()) as Record<string, Record<string, number>>;
}
