/** The tests of each core, by the runner of its language. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ensureNode18 } from "../../packages/cli/src/testing/node18.ts";
import { compileJava, needJava, run } from "./tools.ts";

const folder = (name: string) => fileURLToPath(new URL(`../../clients/${name}`, import.meta.url));

test("the Python core keeps its promises", async () => {
  const { code, output } = await run(["python3", "-W", "error::ResourceWarning", "-m", "unittest", "-v"], {
    cwd: folder("python"),
  });
  expect(output).toMatch(/^Ran [1-9]\d tests in [\d.]+s\n\nOK$/mu);
  expect(code).toBe(0);
});

test.for([
  ["the Node.js of this repository", () => execPath],
  ["Node.js 18, the oldest that it is for", ensureNode18],
] as const)("the JavaScript core keeps its promises on %s", async ([, find]) => {
  const core = folder("javascript/core");
  const files = (await readdir(core)).filter((name) => name.endsWith(".test.js"));
  const { code, output } = await run([await find(), "--test", ...files], { cwd: core });
  expect(output).toMatch(/^# tests [1-9]\d$|^ℹ tests [1-9]\d$/mu);
  expect(output).toMatch(/^# fail 0$|^ℹ fail 0$/mu);
  expect(code).toBe(0);
});

test("the Java core keeps its promises", async ({ skip, onTestFinished }) => {
  const jars = await needJava(skip);
  const classes = await mkdtemp(join(tmpdir(), "platform-core-"));
  onTestFinished(() => rm(classes, { recursive: true }));
  const sources = [folder("java/src/main/java"), folder("java/tests")];
  const path = await compileJava(sources, classes, [join(jars, "*")]);
  const { code, output } = await run(["java", "-cp", path, "io.platform.client.CoreTest"]);
  expect(output).toMatch(/^Ran [1-9]\d tests, 0 failed$/mu);
  expect(code).toBe(0);
});
