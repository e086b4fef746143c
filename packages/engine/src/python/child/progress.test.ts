import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixture, waitFor } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import type { ProgressUpdate } from "../port/runtime.ts";

/* What a run reports of itself, on its way from user code to the worker. */

const PREFIX = "import os, signal, sys, time\nfrom platform_service import checkpoint, report\n";

function lastCheckpoint(reported: readonly ProgressUpdate[]): unknown {
  const last = reported.findLast(({ checkpoint }) => checkpoint !== null)?.checkpoint;
  return last === undefined || last === null ? null : JSON.parse(Buffer.from(last).toString());
}

function lastProgress(reported: readonly ProgressUpdate[]): ProgressUpdate["progress"] {
  return reported.findLast(({ progress }) => progress !== null)?.progress ?? null;
}

describe.each(["auto", "spawn"] as const)("what a run reports, with the start mode %s", (startMode) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture();
  });
  afterAll(() => fixture.close());

  const finish = (body: string, options = {}) =>
    fixture.finish(fixture.createVersion(`${PREFIX}def run(data):\n    ${body}\n`, { startMode }), options);

  test("comes while it runs, and the last of it before its outcome", async () => {
    const version = fixture.createVersion(
      `${PREFIX}def run(data):\n    report(0.25, "L\u00f6se")\n    time.sleep(600)\n`,
      { startMode },
    );
    const run = fixture.start(version, { timeoutSeconds: 600 });
    await waitFor("the report to come", () => run.reported.length > 0);
    expect(run.reported).toEqual([{ progress: { fraction: 0.25, message: "L\u00f6se" }, checkpoint: null }]);
    run.kill({ code: "CANCELLED", detail: "It was cancelled." });
    await run.ended;
  });

  /** How the run ends, and with which code. */
  const ENDS: ReadonlyArray<readonly [name: string, end: string, code: string, timeoutSeconds: number]> = [
    ["raises", "raise KeyError(1)", "EXECUTION_ERROR", 20],
    ["calls sys.exit", "sys.exit(3)", "EXECUTION_ERROR", 20],
    ["ends at once", "os._exit(3)", "EXECUTION_ERROR", 20],
    ["is killed", "os.kill(os.getpid(), 9); os.abort()", "EXECUTION_ERROR", 20],
    ["exceeds its time", "time.sleep(600)", "TIMEOUT", 4],
    ["returns what is not JSON", "return object()", "INVALID_RESULT", 20],
    ["takes too much memory", "return bytearray(1 << 40)", "OUT_OF_MEMORY", 20],
  ];

  test.each(ENDS)("a run that %s leaves its last checkpoint", async (_, end, code, timeoutSeconds) => {
    const { outcome, reported } = await finish(
      `report(0.5)\n    checkpoint({"n": 1})\n    checkpoint({"n": 2, "text": "x" * 900_000})\n    ${end}`,
      { timeoutSeconds },
    );
    expect(outcome).toMatchObject({ status: "FAILED", code });
    expect(lastCheckpoint(reported)).toMatchObject({ n: 2 });
    expect(lastProgress(reported)).toEqual({ fraction: 0.5, message: "" });
  });

  test("a cancelled run may make a checkpoint when it is asked to end", async () => {
    const version = fixture.createVersion(
      `${PREFIX}def leave(number, frame):\n    checkpoint({"left": True})\n    os._exit(0)\n` +
        `def run(data):\n    signal.signal(signal.SIGTERM, leave)\n    report(0.1)\n    time.sleep(600)\n`,
      { startMode },
    );
    const run = fixture.start(version, { timeoutSeconds: 600 });
    await waitFor("the run to begin", () => run.reported.length > 0);
    run.kill({ code: "CANCELLED", detail: "It was cancelled." });
    expect(await run.outcome).toMatchObject({ code: "CANCELLED" });
    expect(lastCheckpoint(run.reported)).toEqual({ left: true });
    await run.ended;
  });

  test("a run that succeeds has its last report stored, and no checkpoint that its result supersedes", async () => {
    const { result, reported } = await finish(
      'report(0.1)\n    time.sleep(0.05)\n    checkpoint({"n": 1})\n    report(1, "done")\n    return {"a": 1}',
    );
    expect(result).toEqual({ a: 1 });
    expect(lastProgress(reported)).toEqual({ fraction: 1, message: "done" });
  });

  test("a run that reports nothing has nothing reported, and nothing of the run before it", async () => {
    const version = fixture.createVersion(
      `${PREFIX}def run(data):\n    if data["loud"]:\n        report(0.5); checkpoint({"secret": 1})\n    raise KeyError(1)\n`,
      { startMode },
    );
    expect((await fixture.finish(version, { data: { loud: true } })).reported).not.toEqual([]);
    expect((await fixture.finish(version, { data: { loud: false } })).reported).toEqual([]);
  });

  test("what is wrong raises in user code, and the run goes on", async () => {
    const { result } = await finish(
      "seen = []\n    for call in (lambda: report(2), lambda: report('x'), lambda: checkpoint({'a': 'x' * 20_000_000}), lambda: checkpoint({'a': object()})):\n" +
        "        try:\n            call()\n        except ValueError as error:\n            seen.append(str(error)[:30])\n    return seen",
    );
    expect(result).toEqual({
      value: [
        "the fraction must be a number ",
        "the fraction must be a number ",
        "The checkpoint has 20000008 by",
        "The checkpoint is not JSON: a ",
      ],
    });
  });
});

describe("a flood of reports", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture();
  });
  afterAll(() => fixture.close());

  test("is passed on about once a second, the newest at the end", async () => {
    const version = fixture.createVersion(
      `${PREFIX}def run(data):\n    end = time.monotonic() + 2\n    n = 0\n` +
        `    while time.monotonic() < end:\n        n += 1\n        report(0.5, str(n))\n        checkpoint({"n": n})\n` +
        `    print(n)\n    raise KeyError(n)\n`,
    );
    const { outcome, reported, lines } = await fixture.finish(version);
    expect(outcome).toMatchObject({ code: "EXECUTION_ERROR" });
    const count = Number(lines.find(({ severity }) => severity === "INFO")?.message);
    expect(lastCheckpoint(reported)).toEqual({ n: count });
    expect(lastProgress(reported)?.message).toBe(String(count));
    expect(reported.length).toBeLessThanOrEqual(4);
  });

  test("of the largest checkpoints is written far less often than it is made", async () => {
    const version = fixture.createVersion(
      `${PREFIX}def run(data):\n    text = "x" * 1_000_000\n    end = time.monotonic() + 3\n    n = 0\n` +
        `    while time.monotonic() < end:\n        n += 1\n        checkpoint({"n": n, "text": text})\n` +
        `    print(n)\n    raise KeyError(n)\n`,
    );
    const { outcome, reported, lines } = await fixture.finish(version);
    expect(outcome).toMatchObject({ code: "EXECUTION_ERROR" });
    const count = Number(lines.find(({ severity }) => severity === "INFO")?.message);
    expect(lastCheckpoint(reported)).toMatchObject({ n: count });
    expect(reported.length).toBeLessThanOrEqual(2);
  });
});
