import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { REPOSITORY } from "./platform-process.ts";

const VITEST = join(REPOSITORY, "node_modules/vitest/vitest.mjs");
let directory = "";

afterEach(() => rm(directory, { recursive: true, force: true }));

/** The last line of CI for a run of this one test file beside a good one. */
async function count(source: string): Promise<string> {
  directory = await mkdtemp(join(REPOSITORY, ".cache", "watchdog-"));
  const report = join(directory, "report.json");
  const setup = join(REPOSITORY, "tools/test-watchdog.ts");
  await writeFile(
    join(directory, "good.test.mjs"),
    `import { test } from "vitest"; test("is good", () => {});`,
  );
  await writeFile(join(directory, "bad.test.mjs"), `import { test } from "vitest"; ${source}`);
  await writeFile(
    join(directory, "vitest.config.mjs"),
    `import { TestReport } from ${JSON.stringify(join(REPOSITORY, "tools/test-report.ts"))};
    export default { test: { include: ["*.test.mjs"], setupFiles: [${JSON.stringify(setup)}], reporters: [new TestReport()] } };`,
  );
  await run([VITEST, "run", "--root", directory], {
    PLATFORM_TEST_REPORT: report,
    PLATFORM_TEST_STUCK_SECONDS: "4",
    PLATFORM_TEST_FILE_SECONDS: "16",
  });
  return run([join(REPOSITORY, "tools/count-tests.ts"), report]);
}

async function run(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  // The environment variables that vitest sets for its workers must not reach the nested vitest.
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("VITEST")));
  const child = spawn(execPath, args, {
    env: { ...clean, ...variables },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return output.trim();
}

test.each([
  ["spins without letting a timer run", `test("spins", async () => { for (;;) await null; }, 1_000);`],
  ["blocks the event loop", `test("blocks", () => { for (;;); }, 1_000);`],
  ["never ends being imported", `await new Promise(() => undefined); test("is never reached", () => {});`],
  ["cannot be loaded", `throw new Error("broken");`],
  ["has a test that fails", `test("fails", () => { throw new Error("wrong"); });`],
])("a test file that %s is counted as failed, and the others run", async (_what, source) => {
  expect(await count(source)).toMatch(/\n1 passed, 1 failed$/);
});

test("a hook that throws is said, with the tests that it has left out", async () => {
  const hook = `beforeAll(() => { throw new Error("of a hook"); });`;
  const part = `describe("part", () => { ${hook} test("is never reached", () => {}); });`;
  expect(await count(`import { beforeAll, describe } from "vitest"; ${part}`)).toMatch(
    /: as a whole\n {2}of a hook\n1 passed, 1 failed, 1 skipped$/,
  );
});

test("of a run that is cut off, what has ended is counted, and what has not is named", async () => {
  directory = await mkdtemp(join(REPOSITORY, ".cache", "watchdog-"));
  const report = join(directory, "report");
  const file = { at: 0, project: "unit", path: "tools/a.test.ts" };
  const lines = [
    { ...file, what: "began" },
    {
      ...file,
      what: "ended",
      passed: 3,
      skipped: 1,
      failed: [{ name: "b", message: "expected 1\nto be 2" }],
      broken: null,
    },
    { ...file, what: "began", path: "tools/c.test.ts" },
  ];
  await writeFile(report, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(await run([join(REPOSITORY, "tools/count-tests.ts"), report])).toMatch(
    /\nfailed: tools\/a.test.ts: b\n {2}expected 1\n {2}to be 2\nfailed: tools\/c.test.ts: as a whole\n {2}has begun, and has not ended\n3 passed, 2 failed, 1 skipped$/,
  );
});

test("what no test was there for is named, as is a line that was cut off; a run that ended badly afterwards has failed", async () => {
  directory = await mkdtemp(join(REPOSITORY, ".cache", "watchdog-"));
  const report = join(directory, "report");
  const file = { project: "unit", path: "tools/a.test.ts", skipped: 0, left: 0, failed: [], broken: null };
  const passed = JSON.stringify({ ...file, what: "ended", at: 0, passed: 3 });
  const good = JSON.stringify({ what: "run", succeeded: true, errors: [] });
  const bad = JSON.stringify({ what: "run", succeeded: false, errors: ["nobody caught it"] });
  const countOf = async (lines: readonly string[], ...status: string[]) => {
    await writeFile(report, `${lines.join("\n")}\n`);
    return await run([join(REPOSITORY, "tools/count-tests.ts"), report, ...status]);
  };
  expect(await countOf([passed, passed.slice(0, 20), bad])).toMatch(
    /\nfailed: a line of the report cannot be read: .*\nfailed: nobody caught it\n3 passed, 1 failed$/,
  );
  expect(await countOf([passed, good])).toMatch(/\n3 passed, 0 failed$/);
  expect(await countOf([passed, good], "124")).toMatch(/\n3 passed, 1 failed$/);
  // Of a file whose tests are all left out, nothing was shown.
  const left = JSON.stringify({ ...file, what: "ended", at: 0, passed: 0, left: 2 });
  expect(await countOf([left, good])).toMatch(/\n0 passed, 1 failed$/);
});

test("a run that leaves no report is counted as failed", async () => {
  expect(await run([join(REPOSITORY, "tools/count-tests.ts"), "/nonexistent"])).toBe("0 passed, 1 failed");
});
