/** Prints the counts of a vitest JSON report as the last line of CI: `N passed, N failed[, N skipped]`. */
import { readFileSync } from "node:fs";
import { argv, exit, stdout } from "node:process";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
}

const report = JSON.parse(readFileSync(argv[2] ?? "", "utf8")) as Report;
const skipped = report.numPendingTests + report.numTodoTests;
// A file that cannot even be loaded has no failed tests, yet it has failed.
const failed = Math.max(report.numFailedTests, report.success ? 0 : 1);
stdout.write(
  `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
exit(failed === 0 ? 0 : 1);
