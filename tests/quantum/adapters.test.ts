/** The adapters of vendors against what their libraries have for tests: fake devices in the process. No key, no network but the package index's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { SDK, findPython, runPytest } from "./pytest.ts";
import type { Outcome } from "./pytest.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

/** Each has an environment of its own, of several hundred MB: those that are `false` are for the long run alone, `npm run test:quantum`. */
const ADAPTERS = { ibm: true, aqt: false, iqm: false, "braket-qpu": false } as const;
const LEFT_OUT: Outcome = {
  name: "its tests",
  status: "skipped",
  text: "They are left to npm run test:quantum.",
};

for (const [name, isQuick] of Object.entries(ADAPTERS)) {
  const requirements = join(SDK, `tests/adapters/requirements-${name}.txt`);
  const outcomes = isQuick || IS_FULL_LENGTH ? await collect(name, requirements) : [LEFT_OUT];
  describe(`the adapter ${name}`, () => {
    test.for(outcomes)("$name", ({ status, text }, { skip }) => {
      skip(status === "skipped", text);
      expect({ status, text }).toEqual({ status: "passed", text: "" });
    });
    test("is tried with the packages that it is installed with", async () => {
      const installed = await readLines(join(REPOSITORY, "backends", name, "requirements.txt"));
      expect(await readLines(requirements)).toEqual(expect.arrayContaining([...installed]));
    });
  });
}

async function readLines(path: string): Promise<readonly string[]> {
  return (await readFile(path, "utf8")).split("\n").filter(Boolean);
}

async function collect(name: string, requirements: string): Promise<readonly Outcome[]> {
  const found = await findPython(requirements);
  if ("reason" in found) return [{ name: "there is no environment", status: "skipped", text: found.reason }];
  return await runPytest(found.python, [`tests/adapters/test_${name.replace("-", "_")}.py`]);
}
