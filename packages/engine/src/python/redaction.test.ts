import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixture } from "../testing/python-fixture.ts";
import { SILENT } from "../testing/silent-logger.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { redactSecrets } from "./redaction.ts";
import { createRedaction, redactionOf } from "./wire/secret-texts.ts";

describe("a text has its secrets replaced", () => {
  test.each([
    ["as it is", ["s3cr3t-value"], "token=s3cr3t-value, s3cr3t-value!", "token=[secret], [secret]!"],
    ["with what a pattern would mean otherwise", ["a.c*(x)[y]\\d+"], "abc a.c*(x)[y]\\d+", "abc [secret]"],
    [
      "as JSON and repr write it",
      ["quo\"te\\d'"],
      `{"a": "quo\\"te\\\\d'"} 'quo"te\\\\d\\''`,
      `{"a": "[secret]"} '[secret]'`,
    ],
    ["line by line", ["first line\nsecond line"], "x second line", "x [secret]"],
    ["the longest first", ["password", "password-and-more"], "password-and-more", "[secret]"],
    [
      "at the end of a line that was cut",
      ["0123456789"],
      "aaa01234567 [line cut: 99 bytes]",
      "aaa[secret] [line cut: 99 bytes]",
    ],
    [
      "where a line was cut within a character",
      ["01234567ä9"],
      "a01234567\uFFFD [line cut: 9 bytes]",
      "a[secret]\uFFFD [line cut: 9 bytes]",
    ],
    [
      "where a text was shortened",
      ["0123456789"],
      "a 01234567… b 0123456... c",
      "a [secret]… b [secret]... c",
    ],
    ["but not what only begins like one", ["0123456789"], "aaa01234567", "aaa01234567"],
    ["where there are none", [], "as it was", "as it was"],
    [
      "as addresses write it",
      ["p@ss/w rd!"],
      "u:p%40ss%2Fw%20rd%21@h p%40ss/w%20rd%21 p%40ss%2Fw+rd%21",
      "u:[secret]@h [secret] [secret]",
    ],
    ["as Python's json writes it", ["Zo\u00EB's 💩 key"], '"Zo\\u00eb\'s \\ud83d\\udca9 key"', '"[secret]"'],
    [
      "the shorter one where only that stands",
      ["password", "password-and-more"],
      "password-and",
      "[secret]-and",
    ],
    ["beside each other", ["aaaabbbb"], "aaaaaaaabbbbaaaabbbb", "aaaa[secret][secret]"],
    [
      "from its beginning, when that is long",
      [`${"0123456789".repeat(4)}end`],
      `x${"0123456789".repeat(4)}!`,
      "x[secret]!",
    ],
    ["but for lines too short to tell", ["first\nsecond line"], "first second line", "first [secret]"],
  ])("%s", (_how, secrets, text, expected) => {
    expect(createRedaction(secrets)(text)).toBe(expected);
  });
});

test("a log takes no longer than its length says, whatever the values and the lines are made of", () => {
  // The same work by each pair of value and place would take minutes.
  const alike = Array.from({ length: 100 }, (_, index) => `${"a".repeat(4_000)}c${index}`);
  const redact = createRedaction([...alike, `${"a".repeat(30)}d`]);
  const began = process.threadCpuUsage();
  for (let count = 0; count < 50; count++) {
    expect(redact(`x${count} [line cut: 1 bytes]`)).toBe(`x${count} [line cut: 1 bytes]`);
    redact(`${"a".repeat(15_000)}z${count} [line cut: 1 bytes]`);
    redact(`${"a".repeat(31)}b`.repeat(500));
  }
  const { user, system } = process.threadCpuUsage(began);
  expect(user + system).toBeLessThan(5_000_000);
});

function spell(index: number): string {
  return `\u00EB'/ ${index.toString(36).padStart(4, "0")}`;
}

test("values of very many lines, all different and spelled in each way differently, are made ready in a moment", () => {
  const values = Array.from({ length: 100 }, (_, value) =>
    Array.from({ length: 900 }, (__, line) => spell(value * 900 + line)).join("\n"),
  );
  const began = process.threadCpuUsage();
  for (let count = 0; count < 5; count++)
    expect(createRedaction(["the-only-token", ...values])("with the-only-token")).toBe("with [secret]");
  const { user, system } = process.threadCpuUsage(began);
  expect(user + system).toBeLessThan(1_500_000);
});

test("what finds the values is made once for all runs that have them", () => {
  const values = ["s3cr3t-value"];
  expect(redactionOf(values)).toBe(redactionOf(values));
  expect(redactionOf(["s3cr3t-value"])).not.toBe(redactionOf(values));
});

describe("a run", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture();
  });
  afterAll(() => fixture.close());

  async function run(program: string, value: string) {
    const plain = fixture.createVersion(program);
    const version = { ...plain, variables: { API_TOKEN: value }, secrets: [value] };
    const lines: string[] = [];
    const started = redactSecrets(fixture.runtime).run({
      executionId: "e",
      version,
      input: { body: Buffer.from("{}") },
      timeoutSeconds: 30,
      onLog: async (batch) => void lines.push(...batch.map(({ message }) => message)),
    });
    const outcome = await started.outcome;
    return { outcome, log: lines.join("\n") };
  }

  test("has its secrets at import and when it runs, and none is in its log, also when it is printed in pieces", async () => {
    const program = `import os, sys, time
AT_IMPORT = os.environ["API_TOKEN"]
def run():
    sys.stdout.write("begin " + AT_IMPORT[:7]); sys.stdout.flush(); time.sleep(0.2)
    sys.stdout.write(AT_IMPORT[7:] + " end\\n"); sys.stdout.flush()
    print(os.environ["API_TOKEN"], file=sys.stderr)
    return {"length": len(AT_IMPORT)}
`;
    const { outcome, log } = await run(program, "s3cr3t-value-of-a-service");
    expect(outcome).toMatchObject({ status: "SUCCEEDED" });
    expect(log).toContain("begin [secret] end");
    expect(log).not.toContain("s3cr3t");
  });

  test("fails without its secrets in code, detail and traceback", async () => {
    const program = `import os
class Failure(Exception):
    code = "BAD"
    detail = "no access with " + os.environ["API_TOKEN"]
def run():
    raise Failure(os.environ["API_TOKEN"])
`;
    const { outcome, log } = await run(program, "s3cr3t-value-of-a-service");
    expect(outcome).toMatchObject({ status: "FAILED", detail: expect.stringContaining("[secret]") });
    expect(`${JSON.stringify(outcome)} ${log}`).not.toContain("s3cr3t");
  });

  test("fails without a piece of them, wherever code and detail are cut", async () => {
    const value = "s3cr3t-value";
    // Whoever sends the input decides where the cut is.
    for (const [detail, code] of [
      ["7990 * 'x'", "118 * 'C'"],
      ["3994 * '💩'", "58 * '💩' + 'CC'"],
    ]) {
      const program = `import os
class Failure(Exception):
    code = ${code} + os.environ["API_TOKEN"]
    detail = ${detail} + os.environ["API_TOKEN"]
def run():
    raise Failure()
`;
      const { outcome } = await run(program, value);
      expect(outcome).toMatchObject({ status: "FAILED", code: expect.stringContaining("[secret]") });
      expect(JSON.stringify(outcome)).not.toContain("s3cr3t");
    }
  });

  test("tells the operator's log none of them when its warm process prints", async () => {
    const outputs: unknown[] = [];
    const noticed = (fields: object) => {
      if ("output" in fields) outputs.push(fields.output);
    };
    const other = await createFixture({ logger: { ...SILENT, warn: noticed } });
    try {
      const value = "s3cr3t-value-of-a-service";
      const plain = other.createVersion(
        `import os, signal
signal.signal(signal.SIGALRM, lambda *_: os.write(1, (os.environ["API_TOKEN"] + "\\n").encode()))
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
def run(): return {}
`,
      );
      const version = { ...plain, variables: { API_TOKEN: value }, secrets: [value] };
      await other.finish(version);
      await expect.poll(() => outputs).toContain("[secret]");
      expect(JSON.stringify(outputs)).not.toContain("s3cr3t");
    } finally {
      await other.close();
    }
  });

  test("has a schema without its secrets, also where a default is one", async () => {
    const value = "s3cr3t-value-of-a-service";
    const plain = fixture.createVersion(
      `import os\nfrom typing import Literal\nfrom dataclasses import dataclass\n@dataclass\nclass Data:\n    token: Literal["${value}", "other"]\ndef run(data: Data): return {}\n`,
    );
    const version = { ...plain, variables: { API_TOKEN: value }, secrets: [value] };
    const probe = await redactSecrets(fixture.runtime).probe(version);
    expect(probe.ok).toBe(true);
    expect(JSON.stringify(probe)).toContain('["[secret]","other"]');
    expect(JSON.stringify(probe)).not.toContain("s3cr3t");
  });

  test("has a schema without those of its secrets that are numbers, and is of the types that it had", async () => {
    const secrets = ["48151623", "12345678901234567890"];
    const plain = fixture.createVersion(`
import os
from dataclasses import dataclass
PIN, LONG = int(os.environ["PIN"]), int(os.environ["LONG"])
@dataclass
class Data:
    pin: int = PIN
    long: int = LONG
    pins: tuple[int, ...] = (1, PIN)
    other: int = 48151624
def run(data: Data): return {}
`);
    const variables = { PIN: secrets[0] ?? "", LONG: secrets[1] ?? "" };
    const probe = await redactSecrets(fixture.runtime).probe({ ...plain, variables, secrets });
    const text = JSON.stringify(probe);
    expect(text).toContain('"pin":{"type":"integer"}');
    expect(text).toContain('"default":48151624');
    for (const secret of [...secrets, "[secret]"]) expect(text).not.toContain(secret);
  });

  test("that cannot be imported is explained without its secrets", async () => {
    const plain = fixture.createVersion('import os\nraise ValueError(os.environ["API_TOKEN"])\n');
    const value = "s3cr3t-value-of-a-service";
    const probe = await redactSecrets(fixture.runtime).probe({
      ...plain,
      variables: { API_TOKEN: value },
      secrets: [value],
    });
    expect(probe.ok).toBe(false);
    expect(JSON.stringify(probe)).toContain("[secret]");
    expect(JSON.stringify(probe)).not.toContain("s3cr3t");
  });
});
