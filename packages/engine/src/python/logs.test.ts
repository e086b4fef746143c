import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDeferred } from "./deferred.ts";
import { createLogBudget, createLogSplitter } from "./log-splitter.ts";
import type { LogLine } from "./runtime.ts";
import { createFixture } from "./testing/fixture.ts";
import type { Fixture } from "./testing/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ limits: { logBytes: 12_000_000, logLineBytes: 1000 } });
});
afterAll(() => fixture.close());

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
  expect(lines.at(-1)?.message).toBe("[log limit of 12000000 bytes reached: further output is dropped]");
  const bytes = lines.reduce((sum, line) => sum + line.message.length, 0);
  expect(bytes).toBeGreaterThan(11_900_000);
  expect(bytes).toBeLessThan(12_000_100);
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
    onLog: (lines) => seen.resolve(lines.map((line) => line.message).join()),
  });
  expect(await seen.promise).toBe("early");
  run.kill({ code: "CANCELLED", detail: "done" });
  await run.ended;
});

test("a background process that keeps stdout open does not delay the outcome, nor does it log afterwards", async () => {
  const program =
    "import subprocess\ndef run():\n    subprocess.Popen(['sh', '-c', 'while true; do echo still; sleep 0.01; done'])\n    print('mine')\n    return 1\n";
  const run = fixture.start(fixture.createVersion(program));
  const before = Date.now();
  expect((await run.outcome).status).toBe("SUCCEEDED");
  expect(Date.now() - before).toBeLessThan(5000);
  const count = run.lines.length;
  await run.ended;
  expect(run.lines).toHaveLength(count);
  expect(simplify(run.lines)).toContain("INFO mine");
});

function split(chunks: readonly string[], limit = 1000): string[] {
  const lines: LogLine[] = [];
  const budget = createLogBudget(limit);
  const splitter = createLogSplitter({
    severity: "INFO",
    lineBytes: 10,
    budget,
    now: () => 1,
    emit: (batch) => void lines.push(...batch),
  });
  for (const chunk of chunks) splitter.push(Buffer.from(chunk, "latin1"));
  splitter.end();
  return simplify(lines);
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

  test("counts empty lines against the budget too, and says once that it is spent", () => {
    expect(split(["\n".repeat(1000), "x\n"], 160)).toEqual([
      ...Array.from({ length: 10 }, () => "INFO "),
      "WARNING [log limit of 160 bytes reached: further output is dropped]",
    ]);
  });
});
