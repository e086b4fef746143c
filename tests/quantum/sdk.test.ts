/** The tests of the quantum SDK and of the bundled backends that need no platform (`sdk/python/tests`): each is a test here. */
import { describe, expect, test } from "vitest";
import { BRAKET, OLDEST, PENNYLANE, findPython, runPytest } from "./pytest.ts";
import type { Outcome } from "./pytest.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

/** Others than the newest Qiskit are for the long run alone: `npm run test:quantum`. */
const ENVIRONMENTS = {
  "the newest Qiskit": undefined,
  ...(IS_FULL_LENGTH
    ? {
        "the oldest Qiskit": OLDEST,
        "Qiskit 2.3, with PennyLane": PENNYLANE,
        "the newest Qiskit, with the Braket SDK": BRAKET,
      }
    : {}),
};
const MISSING = "there is no environment with Qiskit";

for (const [name, requirements] of Object.entries(ENVIRONMENTS)) {
  const outcomes = await collect(requirements);
  describe(`the quantum SDK on ${name}`, () => {
    test.for(outcomes)("$name", ({ status, text }, { skip }) => {
      skip(status === "skipped", text);
      expect({ status, text }).toEqual({ status: "passed", text: "" });
    });
  });
}

async function collect(requirements: string | undefined): Promise<readonly Outcome[]> {
  const found = await findPython(requirements);
  if ("reason" in found) return [{ name: MISSING, status: "skipped", text: found.reason }];
  const outcomes = await runPytest(found.python, ["--ignore", "tests/acceptance"]);
  // A list that shrinks unseen would be no list of promises.
  const ran = outcomes.filter(({ status }) => status !== "skipped").length;
  return [...outcomes, { name: "there are tests", status: ran > 200 ? "passed" : "failed", text: "" }];
}
