/** The tests of the Python half (`packages/engine/runner/tests`): each is a test here. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { INTERPRETER } from "../testing/python-fixture.ts";

interface Outcome {
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly errors: string;
}

const OUTCOMES = await runTests();

async function runTests(): Promise<readonly Outcome[]> {
  const cwd = fileURLToPath(new URL("../../runner", import.meta.url));
  const { stdout } = await promisify(execFile)(INTERPRETER, ["-B", "-m", "tests"], { cwd });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Outcome);
}

describe("the Python half", () => {
  test.for(OUTCOMES)("$name", ({ status, errors }, { skip }) => {
    skip(status === "skipped", "this system has not what it needs");
    expect({ status, errors }).toEqual({ status: "passed", errors: "" });
  });
});
