import { SECOND } from "../../base/time.ts";
import { fail, failStart, notStarted } from "../child/answers.ts";
import type { Failed } from "../child/answers.ts";
import { createLogBudget, createLogSplitter } from "../child/log-splitter.ts";
import type { LogLine, NotStarted, RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { ExitEvent, FailedEvent } from "../wire/control-messages.ts";

/** Maximum bytes that are kept of a zygote's output and of the traceback of an import. */
export const BOOT_LOG_BYTES = 256 * 1024;
/** Maximum bytes of one line of these; the rest of a longer line is cut off. */
export const BOOT_LINE_BYTES = 16 * 1024;
/** Exit codes of a child that failed before it ran user code: it could not prepare itself (70) or could not be executed (71). */
const OWN_EXIT_CODES: ReadonlySet<number> = new Set([70, 71]);

/** FAILED: the project cannot be started on any worker. NOT_STARTED: the cause need not be the project. */
export type StartOutcome = Failed | NotStarted;

/** Why a boot ended without a child, and the outcome of each execution that waits for one. */
export interface BootFailure {
  readonly outcome: StartOutcome;
  /** For the log of an execution: the output of user code until then, and the traceback. */
  readonly lines: readonly LogLine[];
}

/** @param time milliseconds since the epoch, for the lines of the traceback */
export function describeFailedImport({ code, detail, traceback }: FailedEvent, time: number): BootFailure {
  return { outcome: fail(code, detail), lines: toErrorLines(traceback, time) };
}

/** Bounded, since the lines are added to the log of each waiting execution. */
function toErrorLines(text: string | null, time: number): readonly LogLine[] {
  const budget = createLogBudget(BOOT_LOG_BYTES);
  const options = { severity: "ERROR", lineBytes: BOOT_LINE_BYTES, budget, now: () => time } as const;
  const splitter = createLogSplitter(options);
  const { lines } = splitter.split(Buffer.from(text ?? ""), Infinity);
  return [...lines, ...splitter.end().lines].filter(({ message }) => message !== "");
}

/** For a process that sent nothing within its time limit: the project need not be the cause. */
export function describeSilence({ helloMs }: Pick<Settings, "helloMs">): StartOutcome {
  return notStarted("version", `The process of the version did not answer within ${helloMs / SECOND} s.`);
}

/** For an import that exceeded its time limit. */
export function describeSlowImport({ bootMs }: Pick<Settings, "bootMs">): Failed {
  return failStart(`The import of src/program.py took longer than ${bootMs / SECOND} s.`);
}

/** For a process that ended during the import. `description`: how it ended, as a clause ("ended with exit code 3"). */
export function describeEndedImport(description: string): Failed {
  return failStart(`The process ${description} while it imported src/program.py.`);
}

/** For a process that the kernel killed during the import: the memory of all its processes was above the limit. */
export function describeLargeImport({ memory }: Pick<RunnableVersion["resources"], "memory">): Failed {
  const limit = `the memory limit of the version, ${memory} GB`;
  return fail(
    "OUT_OF_MEMORY",
    `The import of src/program.py exceeded ${limit}. Raise resources.memory in platform.json.`,
  );
}

/** Before the zygote's first event only the environment of the project has run (a start-up hook that ends the interpreter, say). */
export function describeEndedInterpreter(description: string): Failed {
  return failStart(`The interpreter ${description} before it could import src/program.py.`);
}

/**
 * @param printed what its programs printed, shown as it is; "" when they printed nothing
 * @param fault why no sandbox works on this machine; null when an empty one works
 */
export function describeFailedSandbox(
  description: string,
  printed: string,
  fault: string | null,
): StartOutcome {
  const end = printed === "" ? "." : `: ${printed}`;
  return fault === null
    ? notStarted("version", `The sandbox of the version ${description}${end}`)
    : notStarted("worker", `No sandbox works on this machine: ${fault}`);
}

/** @param reason what the system says, shown as it is */
export function describeUnstartable(reason: string): StartOutcome {
  return notStarted("worker", `No process could be started: ${reason}`);
}

/** For a child that ended before it was ready. Until then, only a spawned child runs code of the project: the import. */
export function describeEndedChild(
  { code }: ExitEvent,
  startMode: RunnableVersion["startMode"],
): StartOutcome {
  if (runsImport(startMode, code))
    return failStart("The process ended while it was starting; user code may have ended it at import.");
  return notStarted("version", "A process ended before it was ready.");
}

/** For a child that was killed because it was not ready in time. */
export function describeLateChild(
  { code }: ExitEvent,
  startMode: RunnableVersion["startMode"],
  settings: Pick<Settings, "bootMs">,
): StartOutcome {
  if (runsImport(startMode, code)) return describeSlowImport(settings);
  return notStarted("version", `A process was not ready within ${settings.bootMs / SECOND} s.`);
}

function runsImport(startMode: RunnableVersion["startMode"], code: number | null): boolean {
  return startMode === "spawn" && (code === null || !OWN_EXIT_CODES.has(code));
}
