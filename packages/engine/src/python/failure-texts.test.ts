/** The texts of failures that this process writes itself: callers read them in the state of an execution. */
import { describe, expect, test } from "vitest";
import { toOutcome } from "./child/run-machine.ts";
import {
  describeEndedChild,
  describeEndedImport,
  describeEndedInterpreter,
  describeFailedSandbox,
  describeLargeImport,
  describeLateChild,
  describeSilence,
  describeSlowImport,
  describeUnstartable,
} from "./pool/start-failure.ts";
import type { ProcessEnd } from "./child/run-state.ts";
import type { ExitEvent } from "./wire/control-messages.ts";

const LIMITS = { helloMs: 2000, bootMs: 60_000 };
const EXIT: ExitEvent = { event: "exit", id: 1, code: 3, signal: null };
const ENDED = "ended with exit code 3";

const STARTS = {
  "the process did not answer": describeSilence(LIMITS),
  "the import was slow": describeSlowImport(LIMITS),
  "the import ended the process": describeEndedImport(ENDED),
  "the import was large": describeLargeImport({ memory: 0.1 }),
  "the interpreter ended before the import": describeEndedInterpreter(ENDED),
  "the sandbox ended and printed nothing": describeFailedSandbox(ENDED, "", null),
  "no sandbox works": describeFailedSandbox(ENDED, "no permissions", "bwrap was not found."),
  "a forked child ended": describeEndedChild(EXIT, "auto"),
  "a spawned child ended": describeEndedChild(EXIT, "spawn"),
  "a forked child was late": describeLateChild(EXIT, "auto", LIMITS),
  "a spawned child was late": describeLateChild(EXIT, "spawn", LIMITS),
};

const endRun = (end: ProcessEnd | null) => toOutcome({ kill: null, end }, null);
const RUNS = {
  "the connection was closed": endRun(null),
  "the process exited": endRun({ how: "exit", code: 3, signal: null }),
  "the process was killed": endRun({ how: "exit", code: null, signal: 9 }),
  "the process was ended by a signal": endRun({ how: "exit", code: null, signal: 15 }),
};

describe("the text of a failure ends with one period", () => {
  test.each(Object.entries({ ...STARTS, ...RUNS }))("when %s", (_, outcome) => {
    expect("detail" in outcome ? outcome.detail : "").toMatch(/^[A-Z].*[^.]\.$/u);
  });
});

describe("what another program says ends the text as it is", () => {
  test("when the sandbox printed why it ended", () => {
    expect(describeFailedSandbox(ENDED, "bwrap: no such file", null).detail).toBe(
      "The sandbox of the version ended with exit code 3: bwrap: no such file",
    );
  });

  test("when the system could not start a process", () => {
    expect(describeUnstartable("spawn ENOENT").detail).toBe("No process could be started: spawn ENOENT");
  });
});
