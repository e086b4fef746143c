import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { createLogBudget, createLogSplitter } from "./log-splitter.ts";
import type { LogSplitter, SplitLines } from "./log-splitter.ts";
import type { LogLine } from "../port/runtime.ts";
import { createFixture, waitFor } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ limits: { logLineBytes: 1000 } });
});
afterAll(() => fixture.close());

const LOG_BYTES = 16 * 1024 * 1024;

/** What the lines take as JSON text, separated by commas: the form in which they are stored. */
function measureStored(lines: readonly LogLine[]): number {
  const timestamp = "2026-11-21 00:00:00";
  return lines.reduce(
    (sum, { severity, message }) =>
      sum + Buffer.byteLength(JSON.stringify({ timestamp, severity, message })) + 1,
    0,
  );
}

function simplify(lines: readonly LogLine[]): string[] {
  return lines.map((line) => `${line.severity} ${line.message}`);
}

test("100,000 lines arrive complete and in order", async () => {
  const version = fixture.createVersion(
    "def run():\n    for i in range(100_000):\n        print('line', i, 'x' * 50)\n",
  );
  const { lines, outcome } = await fixture.finish(version);
  expect(outcome.status).toBe("SUCCEEDED");
  expect(lines).toHaveLength(100_000);
  expect(lines.every((line, index) => line.message.startsWith(`line ${index} x`))).toBe(true);
});

test("a flood is cut with a marker line, and the run ends as any other", async () => {
  const version = fixture.createVersion(
    "import sys\ndef run():\n    for _ in range(300):\n        sys.stdout.write(('y' * 99 + chr(10)) * 1000)\n    return 1\n",
  );
  const { lines, outcome, result } = await fixture.finish(version);
  expect(outcome.status).toBe("SUCCEEDED");
  expect(result).toEqual({ value: 1 });
  expect(lines.at(-1)?.message).toBe(`[log limit of ${LOG_BYTES} bytes reached: further output is dropped]`);
  expect(lines.slice(0, -1).every((line) => line.message === "y".repeat(99))).toBe(true);
  expect(measureStored(lines)).toBeGreaterThan(LOG_BYTES - 10_000);
  expect(measureStored(lines)).toBeLessThan(LOG_BYTES + 1_000);
});

test("what C code and subprocesses write is captured too", async () => {
  const program = `
import ctypes, os, subprocess, sys
def run():
    os.write(1, b"by descriptor\\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"by C")
    libc.fflush(None)
    subprocess.run([sys.executable, "-c", "import sys; print('by subprocess'); print('its error', file=sys.stderr)"], check=True)
    print("no newline at the end", end="")
`;
  const { lines } = await fixture.finish(fixture.createVersion(program));
  expect(simplify(lines).sort()).toEqual([
    "INFO by C",
    "INFO by descriptor",
    "INFO by subprocess",
    "INFO no newline at the end",
    "WARNING its error",
  ]);
});

const LOGGING = `
import logging, sys
CONFIGURE
def run():
    logging.debug("fine")
    logging.info("two\\nlines")
    logging.getLogger("a.b").warning("careful %s", 1)
    logging.error("wrong")
    logging.critical("dead")
`;

test.each([
  [
    "nothing configured",
    "",
    "INFO",
    ["INFO two", "INFO lines", "WARNING careful 1", "ERROR wrong", "CRITICAL dead"],
  ],
  [
    "LOG_LEVEL=DEBUG",
    "",
    "DEBUG",
    ["DEBUG fine", "INFO two", "INFO lines", "WARNING careful 1", "ERROR wrong", "CRITICAL dead"],
  ],
  ["LOG_LEVEL=error", "", "error", ["ERROR wrong", "CRITICAL dead"]],
  [
    "basicConfig on stdout",
    "logging.basicConfig(stream=sys.stdout, level=logging.WARNING, format='%(name)s: %(message)s')",
    "INFO",
    ["WARNING a.b: careful 1", "ERROR root: wrong", "CRITICAL root: dead"],
  ],
])("records of logging keep their severity: %s", async (_, configure, level, expected) => {
  const version = fixture.createVersion(LOGGING.replace("CONFIGURE", configure), {
    variables: { LOG_LEVEL: level },
  });
  const { lines } = await fixture.finish(version);
  expect(simplify(lines)).toEqual(expected);
});

test("a line comes when it is printed, not when the run ends", async () => {
  const version = fixture.createVersion("import time\ndef run():\n    print('early')\n    time.sleep(30)\n");
  const seen = createDeferred<string>();
  const run = fixture.runtime.run({
    executionId: "early",
    version,
    input: { body: Buffer.from("{}") },
    timeoutSeconds: 20,
    onLog: async (lines) => seen.resolve(lines.map((line) => line.message).join()),
  });
  expect(await seen.promise).toBe("early");
  run.kill({ code: "CANCELLED", detail: "done" });
  await run.ended;
});

test("a background process that keeps stdout open does not delay the outcome, nor does it log afterwards", async () => {
  const program =
    "import subprocess\ndef run():\n    subprocess.Popen(['sh', '-c', 'while true; do echo still; sleep 0.01; done'])\n    print('mine')\n    return 1\n";
  const run = fixture.start(fixture.createVersion(program));
  expect((await run.outcome).status).toBe("SUCCEEDED");
  const count = run.lines.length;
  await run.ended;
  expect(run.lines).toHaveLength(count);
  expect(simplify(run.lines)).toContain("INFO mine");
});

function createSplitter(limit: number): LogSplitter {
  return createLogSplitter({ severity: "INFO", lineBytes: 10, budget: createLogBudget(limit), now: () => 1 });
}

function split(chunks: readonly string[], limit = 10_000): string[] {
  const splitter = createSplitter(limit);
  const parts = chunks.map((chunk) => splitter.split(Buffer.from(chunk, "latin1"), Infinity));
  return simplify([...parts, splitter.end()].flatMap(({ lines }) => lines));
}

describe("the splitter", () => {
  test.each<[string, string[], string[]]>([
    ["lines across chunks", ["a", "b\nc", "\n\nd"], ["INFO ab", "INFO c", "INFO ", "INFO d"]],
    ["carriage returns of Windows", ["ab\r\n"], ["INFO ab"]],
    [
      "long lines are cut and say so",
      ["0123456789abc\nx\n"],
      ["INFO 0123456789 [line cut: 13 bytes]", "INFO x"],
    ],
    ["marks", ["\x1eEbad\n\x1eXodd\n\x1e"], ["ERROR bad", "INFO \x1eXodd", "INFO \x1e"]],
    ["UTF-8 across chunks, and what is none", ["\xc3", "\xb6\n\xff\n"], ["INFO ö", "INFO \uFFFD"]],
    ["NUL, which the store cannot hold", ["a\0b\n"], ["INFO a\uFFFDb"]],
  ])("handles %s", (_, chunks, expected) => {
    expect(split(chunks)).toEqual(expected);
  });

  test("counts a line as it is stored, an empty one too, and says once that the budget is spent", () => {
    expect(split(["\n".repeat(1000), "x\n"], 679)).toEqual([
      ...Array.from({ length: 10 }, () => "INFO "),
      "WARNING [log limit of 679 bytes reached: further output is dropped]",
    ]);
    const [controls, letters] = ["\x01".repeat(9), "x".repeat(9)].map((text) => {
      const { lines, bytes } = createSplitter(10_000).split(Buffer.from(`${text}\n`), Infinity);
      expect(bytes).toBe(measureStored(lines));
      return bytes;
    });
    expect(controls).toBe((letters ?? 0) + 9 * 5); // \u0001 takes six bytes
  });

  test("stops within its allowance, and goes on where it stopped", () => {
    const splitter = createSplitter(Infinity);
    let rest: Buffer | null = Buffer.from(Array.from({ length: 1000 }, (_, n) => `${n}\n`).join(""));
    const seen: string[] = [];
    let turns = 0;
    for (; rest !== null; turns += 1) {
      const taken: SplitLines = splitter.split(rest, 4000);
      expect(taken.cost).toBeLessThan(4200);
      seen.push(...taken.lines.map((line) => line.message));
      rest = taken.rest;
    }
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, n) => String(n)));
    expect(turns).toBeGreaterThan(15);
  });

  test("does not look at what comes after the budget is spent", () => {
    const splitter = createSplitter(100);
    splitter.split(Buffer.from("a\nb\nc\n"), Infinity);
    const flood = Buffer.from("y\n".repeat(500_000));
    let looks = 0;
    flood.indexOf = () => {
      looks += 1;
      return -1;
    };
    const taken = splitter.split(flood, 1);
    expect([looks, taken.lines, taken.rest]).toEqual([0, [], null]);
    expect(taken.cost).toBeLessThan(flood.length / 4);
  });

  test("keeps no more than a line's limit of a line without end", () => {
    const splitter = createSplitter(10_000);
    for (let count = 0; count < 100_000; count += 1) splitter.split(Buffer.from("x"), Infinity);
    expect(simplify(splitter.end().lines)).toEqual(["INFO xxxxxxxxxx [line cut: 100000 bytes]"]);
  });
});

describe("a flood costs the platform little", () => {
  const FLOOD =
    "import sys\ndef run():\n    for _ in range(40):\n        sys.stdout.write('y\\n' * 10_000)\n    return 1\n";

  test("what prints has to wait for a store that lags, and nothing is lost", async () => {
    const lines: LogLine[] = [];
    const store = createDeferred<undefined>();
    let isFull = false;
    const version = fixture.createVersion(
      "def run():\n    for n in range(40_000):\n        print(n)\n    return 1\n",
    );
    const run = fixture.runtime.run({
      executionId: "lagging",
      version,
      input: { body: Buffer.from("{}") },
      timeoutSeconds: 120,
      onLog: async (batch) => {
        lines.push(...batch);
        isFull ||= measureStored(lines) >= 1024 * 1024;
        await store.promise;
      },
    });
    await waitFor("as much as may be unwritten was read", () => isFull);
    const before = lines.length;
    // Streams get equal shares: one that prints as much, whose store does not lag, is read to its end meanwhile.
    expect((await fixture.finish(version)).lines).toHaveLength(40_000);
    expect(lines).toHaveLength(before);
    expect(measureStored(lines)).toBeLessThan(1024 * 1024 + 64 * 1024);
    store.resolve(undefined);
    expect(await run.outcome).toMatchObject({ status: "SUCCEEDED" });
    expect(lines.map((line) => line.message)).toEqual(Array.from({ length: 40_000 }, (_, n) => String(n)));
    await run.ended;
  });

  test("a run that prints far beyond its budget ends as any other", async () => {
    const { outcome, lines } = await fixture.finish(fixture.createVersion(FLOOD.replace("(40)", "(2_000)")));
    expect(outcome.status).toBe("SUCCEEDED");
    expect(measureStored(lines)).toBeLessThan(LOG_BYTES + 1_000);
  });

  test("metadata without end is refused at the second frame", async () => {
    const program = `
import os, stat, struct
def run():
    frame = struct.pack(">IB", 2, 16) + b"{}"
    for fd in range(3, 1000):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                while True:
                    os.write(fd, frame * 1000)
        except OSError:
            pass
`;
    const { outcome } = await fixture.finish(fixture.createVersion(program));
    expect(outcome).toMatchObject({
      status: "FAILED",
      code: "EXECUTION_ERROR",
      detail: "The code wrote to the runtime's own connection instead of returning from run.",
    });
  });
});
