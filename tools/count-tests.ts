/**
 * `count-tests.ts REPORT [STATUS]` prints how long the tests of a report (tools/test-report.ts) took, folder by folder, what failed, and
 * their counts as the last line of CI: `N passed, N failed[, N skipped]`. STATUS is with which the run ended, 0 if it is not given.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { argv, exit, stdout } from "node:process";
import { SECOND } from "@platform/engine/base/time";
import type { ReportLine } from "./test-report.ts";

type Ended = Extract<ReportLine, { what: "ended" }>;
interface TestFile extends Omit<Ended, "what" | "at"> {
  /** In milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

const LONGEST_SHOWN = 20;

const [report = "", status = "0"] = argv.slice(2);
const { files, errors, succeeded } = readReport(report);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const passed = sum(files.map((file) => file.passed));
const skipped = sum(files.map((file) => file.skipped));
const left = sum(files.map((file) => file.left));
const failures = files.flatMap(listFailures);
// What no test was there for may say once more that a file has failed.
const isNoneRun = passed === 0 && left > 0;
const isGood = succeeded && status === "0" && errors.length === 0 && !isNoneRun;
const failed = Math.max(failures.length, isGood ? 0 : 1);
stdout.write(
  [
    ...describeTimes(),
    ...describeLeft(),
    ...[...failures, ...errors].map((failure) => `failed: ${failure}`),
    "",
  ].join("\n"),
);
stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
exit(failed === 0 ? 0 : 1);

/** What each folder of tests took from its first file to its last, and the files that took longest. */
function describeTimes(): readonly string[] {
  const folders = [...new Set(files.map(nameFolder))].map((folder) => {
    const those = files.filter((file) => nameFolder(file) === folder);
    const within = Math.max(...those.map(({ to }) => to)) - Math.min(...those.map(({ from }) => from));
    const tests = sum(those.map((file) => file.passed + file.skipped + file.failed.length));
    return `${folder}: ${tests} tests of ${those.length} files within ${toSeconds(within)} s, ${toSeconds(sum(those.map(readDuration)))} s one after the other`;
  });
  const longest = files
    .toSorted((one, other) => readDuration(other) - readDuration(one))
    .slice(0, LONGEST_SHOWN)
    .map((file) => `  ${toSeconds(readDuration(file))} s ${file.path} (${file.project})`);
  return [...folders, ...longest];
}

function describeLeft(): readonly string[] {
  return left === 0 ? [] : [`${left} tests are for runs at full length (npm run test:full)`];
}

function listFailures({ path, failed, broken }: TestFile): readonly string[] {
  const all = [...failed, ...(broken === null ? [] : [{ name: "as a whole", message: broken }])];
  return all.map(({ name, message }) => `${path}: ${name}\n${indent(message)}`);
}

function indent(text: string): string {
  return text.replaceAll(/^/gmu, "  ");
}

function nameFolder({ path }: TestFile): string {
  const folder = dirname(path);
  return folder.startsWith("tests/") ? folder : "beside the source";
}

function readDuration({ from, to }: TestFile): number {
  return to - from;
}

function toSeconds(milliseconds: number): number {
  return Math.round(milliseconds / SECOND);
}

interface Read {
  readonly files: readonly TestFile[];
  /** What no test was there for. */
  readonly errors: readonly string[];
  readonly succeeded: boolean;
}

/** A file that began and has not ended was ended because it hung, or the run was: it has failed, as has a run without a report. */
function readReport(path: string): Read {
  const found = new Map<string, TestFile>();
  const errors: string[] = [];
  let succeeded = false;
  for (const text of readLines(path)) {
    const line = parseLine(text);
    if (line === null) {
      errors.push(`a line of the report cannot be read: ${text}`);
      continue;
    }
    if (line.what === "run") {
      succeeded = line.succeeded;
      errors.push(...line.errors);
      continue;
    }
    const { what, at, ...told } = line;
    const key = `${told.project} ${told.path}`;
    const from = found.get(key)?.from ?? at;
    const rest =
      what === "ended"
        ? told
        : { ...told, passed: 0, skipped: 0, left: 0, failed: [], broken: "has begun, and has not ended" };
    found.set(key, { passed: 0, skipped: 0, left: 0, failed: [], broken: null, ...rest, from, to: at });
  }
  return { files: [...found.values()], errors, succeeded };
}

function parseLine(text: string): ReportLine | null {
  try {
    return JSON.parse(text) as ReportLine;
  } catch {
    return null;
  }
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
