/** Prints the counts of a vitest JSON report as the last line of CI: `N passed, N failed[, N skipped]`. */
import { readFileSync } from "node:fs";
import { argv, exit, stdout } from "node:process";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const report = readReport(argv[2] ?? "");
const skipped = report.numPendingTests + report.numTodoTests;
// A file that cannot even be loaded, or was ended because it hung, has no failed tests, yet it has failed.
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === "failed" && assertionResults.every((result) => result.status !== "failed"),
);
const failed = Math.max(report.numFailedTests + brokenFiles.length, report.success ? 0 : 1);
stdout.write(
  `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
exit(failed === 0 ? 0 : 1);

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
