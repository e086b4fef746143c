/**
 * vitest reporter: writes how each test file began and ended to the file that PLATFORM_TEST_REPORT names, a line of JSON each as it
 * happens. What is known of a run that is cut off is there as well (tools/count-tests.ts).
 */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { env } from "node:process";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestModule } from "vitest/node";
import { REPOSITORY } from "./platform-process.ts";

/** Characters that are kept of the message of a failed test. */
const MOST_SAID = 1_500;

/** A test file of a project. */
interface FileName {
  readonly project: string;
  /** Relative to the repository. */
  readonly path: string;
}

export interface FailedTest {
  readonly name: string;
  /** What it failed with: the end of it, where it is long. */
  readonly message: string;
}

/** One line of the report. Times are in milliseconds since 1970. */
export type ReportLine =
  | ({ readonly what: "began"; readonly at: number } & FileName)
  | ({
      readonly what: "ended";
      readonly at: number;
      readonly passed: number;
      readonly skipped: number;
      readonly failed: readonly FailedTest[];
      /** Why the file itself failed: it could not be loaded, or a hook of it threw. Null: it did not. */
      readonly broken: string | null;
    } & FileName)
  | { readonly what: "run"; readonly succeeded: boolean };

export class TestReport implements Reporter {
  onTestModuleQueued(file: TestModule): void {
    write({ what: "began", at: Date.now(), ...nameFile(file) });
  }

  onTestModuleEnd(file: TestModule): void {
    const tests = [...file.children.allTests()].map((test) => ({ name: test.fullName, ...test.result() }));
    const failed = tests
      .filter(({ state }) => state === "failed")
      .map(({ name, errors }) => ({ name, message: describe(errors ?? []) }));
    write({
      what: "ended",
      at: Date.now(),
      ...nameFile(file),
      passed: tests.filter(({ state }) => state === "passed").length,
      skipped: tests.filter(({ state }) => state === "skipped").length,
      failed,
      broken: failed.length === 0 && !file.ok() ? describe(file.errors()) : null,
    });
  }

  onTestRunEnd(_files: readonly TestModule[], errors: readonly unknown[], reason: string): void {
    write({ what: "run", succeeded: reason === "passed" && errors.length === 0 });
  }
}

/** A failed command ends with what it said last. */
function describe(errors: readonly { readonly message: string }[]): string {
  return stripVTControlCharacters(errors.map(({ message }) => message).join("\n")).slice(-MOST_SAID);
}

function nameFile({ project, moduleId }: TestModule): FileName {
  return { project: project.name, path: relative(REPOSITORY, moduleId) };
}

function write(line: ReportLine): void {
  const report = env["PLATFORM_TEST_REPORT"];
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(line)}\n`);
}
