/**
 * vitest reporter: writes how each test file began and ended to the file that PLATFORM_TEST_REPORT names, a line of JSON each as it
 * happens. What is known of a run that is cut off is there as well (tools/count-tests.ts).
 */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { env } from "node:process";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule } from "vitest/node";
import { IS_FULL_LENGTH } from "@platform/engine/testing/full-length";
import { REPOSITORY } from "./platform-process.ts";

/** The tag of tests that are for runs at full length. */
export const FULL = "full";

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
      /** Left out by their tag (vitest.config.ts): they are for runs at full length. */
      readonly left: number;
      readonly failed: readonly FailedTest[];
      /** Why the file itself failed, or a part of it: it could not be loaded, or a hook threw. Null: it did not. */
      readonly broken: string | null;
    } & FileName)
  /** `errors`: what no test was there for. */
  | { readonly what: "run"; readonly succeeded: boolean; readonly errors: readonly string[] };

export class TestReport implements Reporter {
  onTestModuleQueued(file: TestModule): void {
    write({ what: "began", at: Date.now(), ...nameFile(file) });
  }

  onTestModuleEnd(file: TestModule): void {
    const tests = [...file.children.allTests()].map((test) => ({
      name: test.fullName,
      isLeft: !IS_FULL_LENGTH && test.tags.includes(FULL),
      ...test.result(),
    }));
    const skipped = tests.filter(({ state }) => state === "skipped");
    const failed = tests
      .filter(({ state }) => state === "failed")
      .map(({ name, errors }) => ({ name, message: describe(errors ?? []) }));
    write({
      what: "ended",
      at: Date.now(),
      ...nameFile(file),
      passed: tests.filter(({ state }) => state === "passed").length,
      skipped: skipped.filter(({ isLeft }) => !isLeft).length,
      left: skipped.filter(({ isLeft }) => isLeft).length,
      failed,
      broken: describeOwn(file, failed.length > 0),
    });
  }

  onTestRunEnd(_files: readonly TestModule[], errors: readonly SerializedError[], reason: string): void {
    const succeeded = reason === "passed" && errors.length === 0;
    write({ what: "run", succeeded, errors: errors.map((error) => describe([error])) });
  }
}

/** What went wrong beside the tests of a file; null: nothing. @param hasFailures of its tests, for which the file is not good */
function describeOwn(file: TestModule, hasFailures: boolean): string | null {
  const errors = [file, ...file.children.allSuites()].flatMap((part) => part.errors());
  const isExplained = file.ok() || hasFailures;
  return errors.length === 0 && isExplained ? null : describe(errors);
}

/** A failed command ends with what it said last. */
function describe(errors: readonly { readonly message: string; readonly diff?: string }[]): string {
  // The message of two values that differ has only their outlines.
  const said = errors.map(({ message, diff }) => (diff === undefined ? message : `${message}\n${diff}`));
  return stripVTControlCharacters(said.join("\n")).slice(-MOST_SAID);
}

function nameFile({ project, moduleId }: TestModule): FileName {
  return { project: project.name, path: relative(REPOSITORY, moduleId) };
}

function write(line: ReportLine): void {
  const report = env["PLATFORM_TEST_REPORT"];
  // Begins with the end of a line: of one that was cut off, the next one is not a part.
  if (report !== undefined) appendFileSync(report, `\n${JSON.stringify(line)}\n`);
}
