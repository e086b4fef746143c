/**
 * Prints how long the tests of a vitest JSON report took, folder by folder, and their counts as the last line of CI: `N passed, N failed[, N skipped]`.
 */
import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { argv, exit, stdout } from "node:process";
import { SECOND } from "@platform/engine/base/time";
import { REPOSITORY } from "./platform-process.ts";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly success: boolean;
  readonly testResults: readonly TestFile[];
}

interface TestFile {
  /** The path of the file, absolute. */
  readonly name: string;
  readonly status: string;
  /** In milliseconds since 1970. */
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly { readonly status: string }[];
}

const LONGEST_SHOWN = 12;

const report = readReport(argv[2] ?? "");
const skipped = report.numPendingTests + report.numTodoTests;
// A file that cannot even be loaded, or was ended because it hung, has no failed tests, yet it has failed.
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === "failed" && assertionResults.every((result) => result.status !== "failed"),
);
const failed = Math.max(report.numFailedTests + brokenFiles.length, report.success ? 0 : 1);
stdout.write(describeTimes(report.testResults));
stdout.write(
  `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
exit(failed === 0 ? 0 : 1);

/** What each folder of tests took from its first file to its last, and the files that took longest. */
function describeTimes(files: readonly TestFile[]): string {
  const lines = [...new Set(files.map(nameFolder))].map((folder) => {
    const those = files.filter((file) => nameFolder(file) === folder);
    const begin = Math.min(...those.map(({ startTime }) => startTime));
    const end = Math.max(...those.map(({ endTime }) => endTime));
    const tests = those.reduce((sum, { assertionResults }) => sum + assertionResults.length, 0);
    const together = those.reduce((sum, file) => sum + readDuration(file), 0);
    return `${folder}: ${tests} tests of ${those.length} files within ${toSeconds(end - begin)} s, ${toSeconds(together)} s one after the other`;
  });
  const longest = files
    .toSorted((one, other) => readDuration(other) - readDuration(one))
    .slice(0, LONGEST_SHOWN)
    .map((file) => `  ${toSeconds(readDuration(file))} s ${relative(REPOSITORY, file.name)}`);
  return [...lines, ...longest].map((line) => `${line}\n`).join("");
}

function nameFolder({ name }: TestFile): string {
  const folder = dirname(relative(REPOSITORY, name));
  return folder.startsWith("tests/") ? folder : "beside the source";
}

function readDuration({ startTime, endTime }: TestFile): number {
  return endTime - startTime;
}

function toSeconds(milliseconds: number): number {
  return Math.round(milliseconds / SECOND);
}

/** Without a report the run itself has failed. */
function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return {
      numPassedTests: 0,
      numFailedTests: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      success: false,
      testResults: [],
    };
  }
}
