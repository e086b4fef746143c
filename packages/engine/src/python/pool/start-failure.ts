import { SECOND } from "../../base/time.ts";
import { fail, failStart, notStarted } from "../child/answers.ts";
import type { Failed } from "../child/answers.ts";
import { createLogBudget, createLogSplitter } from "../child/log-splitter.ts";
import type { LogLine, NotStarted, RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { ExitEvent, FailedEvent } from "../wire/control-messages.ts";

/** Largest part of what a zygote prints, and of the traceback of an import, that is kept. */
export const BOOT_LOG_BYTES = 256 * 1024;
export const BOOT_LINE_BYTES = 16 * 1024;
/** Of a child that failed before user code could: it could not prepare itself (70) or could not be executed (71). */
const OWN_EXIT_CODES: ReadonlySet<number> = new Set([70, 71]);

/** FAILED: the project cannot be started anywhere. NOT_STARTED: the project is not known to be at fault. */
export type StartOutcome = Failed | NotStarted;

/** Why no child came of a boot, and what each execution that waits for one ends with. */
export interface BootFailure {
  readonly outcome: StartOutcome;
  /** For the log of an execution: what user code printed until then, and the traceback. */
  readonly lines: readonly LogLine[];
}

/** @param time milliseconds since the epoch, for the lines of the traceback */
export function describeFailedImport({ code, detail, traceback }: FailedEvent, time: number): BootFailure {
  return { outcome: fail(code, detail), lines: toErrorLines(traceback, time) };
}

/** Bounded: each execution that waits is given them all. */
function toErrorLines(text: string | null, time: number): readonly LogLine[] {
  const budget = createLogBudget(BOOT_LOG_BYTES);
  const options = { severity: "ERROR", lineBytes: BOOT_LINE_BYTES, budget, now: () => time } as const;
  const splitter = createLogSplitter(options);
  const { lines } = splitter.split(Buffer.from(text ?? ""), Infinity);
  return [...lines, ...splitter.end().lines].filter(({ message }) => message !== "");
}

export function describeSilence({ helloMs }: Pick<Settings, "helloMs">): StartOutcome {
  return notStarted("version", `The process of the version did not answer within ${helloMs / SECOND} s`);
}

export function describeSlowImport({ bootMs }: Pick<Settings, "bootMs">): StartOutcome {
  return failStart(`The import of src/program.py took longer than ${bootMs / SECOND} s`);
}

export function describeEndedImport(description: string): StartOutcome {
  return failStart(`The process ${description} while it imported src/program.py`);
}

/** Before the zygote's first word only its environment can be the project's fault (a start-up hook that ends it). */
export function describeEndedInterpreter(description: string): StartOutcome {
  return failStart(`The interpreter ${description} before it could import src/program.py`);
}

/** @param fault why no sandbox at all works on this machine; null when an empty one works */
export function describeFailedSandbox(reason: string, fault: string | null): StartOutcome {
  return fault === null
    ? notStarted("version", `The sandbox of the version ${reason}`)
    : notStarted("worker", `No sandbox works on this machine: ${fault}`);
}

export function describeUnstartable(reason: string): StartOutcome {
  return notStarted("worker", `No process could be started: ${reason}`);
}

/** Of a child that ended before it was ready. Only a spawned child runs code of the project until then: the import. */
export function describeEndedChild(
  { code }: ExitEvent,
  startMode: RunnableVersion["startMode"],
): StartOutcome {
  if (runsImport(startMode, code))
    return failStart("The process ended while it was starting; user code may have ended it at import");
  return notStarted("version", "A process ended before it was ready");
}

/** Of a child that was killed because it was not ready in time. */
export function describeLateChild(
  { code }: ExitEvent,
  startMode: RunnableVersion["startMode"],
  settings: Pick<Settings, "bootMs">,
): StartOutcome {
  if (runsImport(startMode, code)) return describeSlowImport(settings);
  return notStarted("version", `A process was not ready within ${settings.bootMs / SECOND} s`);
}

function runsImport(startMode: RunnableVersion["startMode"], code: number | null): boolean {
  return startMode === "spawn" && (code === null || !OWN_EXIT_CODES.has(code));
}
