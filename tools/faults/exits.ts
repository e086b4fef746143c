import type { PlatformProcess } from "../platform-process.ts";
import type { Member } from "./schedule.ts";

/** A process of the platform that ended by itself, and was started again. */
export interface Exit {
  readonly name: Member;
  /** Whether it had become ready before. */
  readonly wasReady: boolean;
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines of its log. */
  readonly log: readonly string[];
}

/** Why a process ended by itself. What it does to keep a promise, or because it cannot be started, is no defect; whatever else there is, is one. */
export interface Explanation {
  readonly isMeant: boolean;
  readonly why: string;
}

const KEPT_LINES = 20;
const WATCHDOG = "the event loop is blocked past a lease";

/** Gathers the exits of one process. */
export interface ExitList {
  /** Of a process that is gone. */
  readonly add: (platform: PlatformProcess, wasReady: boolean) => void;
  /** Those since this was asked last. Logs are read only now: the last lines may come after the end. */
  readonly take: () => readonly Exit[];
}

/** Empty. */
export function createExitList(name: Member): ExitList {
  let exits: { readonly platform: PlatformProcess; readonly wasReady: boolean }[] = [];
  return {
    add: (platform, wasReady) => void exits.push({ platform, wasReady }),
    take: () => {
      const taken = exits.map(({ platform, wasReady }) => {
        const { exitCode: code, signalCode: signal } = platform.process;
        const log = platform.readLog().trimEnd().split("\n").slice(-KEPT_LINES);
        return { name, wasReady, code, signal, log };
      });
      exits = [];
      return taken;
    },
  };
}

/** From how it ended, and from the last lines of its log, which are JSON; what it says of a start that failed is text, with a stack where it is a defect. */
export function explainExit({ wasReady, code, signal, log }: Omit<Exit, "name">): Explanation {
  if (signal === "SIGKILL" && log.some((line) => line.includes(WATCHDOG)))
    return { isMeant: true, why: "its watchdog ended it: the event loop hung past a lease" };
  const said = log.filter((line) => !line.startsWith("{"));
  const hasStack = said.some((line) => /^\s+at /u.test(line));
  if (!wasReady && code === 1 && said.length > 0 && !hasStack)
    // What is in parentheses may be a path of this one process.
    return { isMeant: true, why: `it could not be started: ${said.join(" ").split(" (")[0]}` };
  return { isMeant: false, why: `${signal ?? `exit status ${code}`}: ${said[0] ?? log.at(-1) ?? ""}` };
}
