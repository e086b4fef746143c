import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { run } from "../clients/tools.ts";

/** The quantum SDK. */
export const SDK = join(REPOSITORY, "sdk/python");
const HERE = join(REPOSITORY, "tests/quantum");
/** What is installed with the oldest Qiskit that the SDK is for. */
export const OLDEST = join(HERE, "requirements-oldest.txt");
/** Qiskit 2.3, with PennyLane and its plugin, which is for no later one. */
export const PENNYLANE = join(HERE, "requirements-pennylane.txt");
/** The newest Qiskit, with the Amazon Braket SDK. */
export const BRAKET = join(HERE, "requirements-braket.txt");
/** With this code the script says that the package index is out of reach. */
const OUT_OF_REACH = 3;

/** What became of a test of Python. */
export interface Outcome {
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  /** The traceback, or why it was skipped. */
  readonly text: string;
}

/** The interpreter of an environment with what a list pins; or why it cannot be had. @throws Error where the list itself is wrong */
export async function findPython(
  requirements = join(SDK, "requirements-tests.txt"),
): Promise<{ readonly python: string } | { readonly reason: string }> {
  const { code, output, stdout } = await run(["sh", join(REPOSITORY, "tools/quantum-env.sh"), requirements]);
  if (code === OUT_OF_REACH)
    return { reason: `The package index cannot be reached: ${output.slice(0, 500)}` };
  if (code !== 0) throw new Error(`The environment could not be made:\n${output}`);
  return { python: join(stdout.trim(), "bin/python") };
}

/** Runs tests of the SDK, and returns what became of each. @throws Error where pytest could not begin */
export async function runPytest(
  python: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), "platform-pytest-"));
  const file = join(folder, "lines");
  try {
    const command = [python, "-B", "-m", "pytest", "-q", "-p", "report_lines", "-p", "no:cacheprovider"];
    const { output } = await run([...command, ...words], {
      cwd: SDK,
      environment: { PYTHONPATH: HERE, REPORT_LINES: file, ...environment },
    });
    const lines = (await readFile(file, "utf8").catch(() => "")).trim();
    if (lines === "") throw new Error(`pytest has run nothing:\n${output}`);
    return lines.split("\n").map((line) => JSON.parse(line) as Outcome);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
