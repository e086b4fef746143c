import { FAILURE_WORDS } from "@platform/contract/words.gen";
import type { AnswerOf } from "../api/client.ts";
import { formatDuration } from "../util/times.ts";

/** An execution as its page has it. */
export type Execution = AnswerOf<"getExecution">;

const GIGABYTE = 1_073_741_824;
/** Steps in which memory is asked for, in GB. */
const MEMORY_STEP = 0.25;

type Advise = string | ((execution: Execution) => string);

/** What to do about a code, a sentence or two; typed so that no code of the platform is forgotten. */
const ADVICE: Readonly<Record<keyof typeof FAILURE_WORDS, Advise>> = {
  EXECUTION_ERROR: "The log has the traceback. Fix the code and deploy a new version, or change the input.",
  CONNECTION_ERROR:
    "Check that the host is up, and that the version declares it as a host that it may reach. Then run it again.",
  STARTUP_ERROR:
    "The log has the import that failed. Fix it, or add what is missing to the requirements, and deploy.",
  NOT_STARTED: "The input is not at fault. Run it again; if that fails as well, the operator's log says why.",
  START_DEADLINE_EXCEEDED:
    "Nothing has run. Run it again, with a later deadline (startWithin), or when less is waiting.",
  INVALID_INPUT: "Change what the detail names, and run it again with the changed input.",
  INVALID_RESULT:
    "Return what JSON has: objects, arrays, texts, finite numbers. Convert other values before they are returned.",
  RESULT_TOO_LARGE: "Write large content as a file into OUTPUT_DIRECTORY, and return what is small.",
  RESULT_NOT_STORED: "The code has run, but its result is lost. Run it again if it may be repeated.",
  OUT_OF_MEMORY: (execution) => adviseMemory(execution),
  TIMEOUT: ({ timeoutSeconds }) =>
    `It was ended after ${formatDuration(timeoutSeconds * 1_000)}. Give it less to do, or allow a longer run in the policy of the service.`,
  CANCELLED: "It was asked to end. Run it again if that was not meant.",
  DATA_REFERENCE_UNAVAILABLE:
    "The file was removed, or may not be read any more. Refer to one that is there.",
  WORKER_LOST:
    "User code had begun, and may have had effects; it was not repeated. Check them, then run it again. A service that may be repeated can say so in its policy (onLost: retry).",
};

function adviseMemory(execution: Execution): string {
  return `Set "memory": ${proposeMemory(execution)} below "resources" in platform.json and deploy, or give it less to do. Its limit was ${execution.resources.memory} GB.`;
}

/** In GB: half as much again as it had, or as it may have. */
function proposeMemory({ resources, peakMemoryBytes }: Execution): number {
  const needed = Math.max(peakMemoryBytes ?? 0, resources.memory * GIGABYTE) / GIGABYTE;
  return Math.ceil((needed * 1.5) / MEMORY_STEP) * MEMORY_STEP;
}

/** What is done next about a failure, where the console can help: a tab to look at, a line to copy, or another run. */
export type NextStep =
  | { readonly kind: "tab"; readonly tab: "log" | "input" }
  | { readonly kind: "copy"; readonly text: string; readonly what: string }
  | { readonly kind: "run" };

const LOG: NextStep = { kind: "tab", tab: "log" };
const INPUT: NextStep = { kind: "tab", tab: "input" };
const RUN: NextStep = { kind: "run" };

const NEXT: Readonly<Record<keyof typeof FAILURE_WORDS, NextStep | ((execution: Execution) => NextStep)>> = {
  EXECUTION_ERROR: LOG,
  CONNECTION_ERROR: LOG,
  STARTUP_ERROR: LOG,
  NOT_STARTED: RUN,
  START_DEADLINE_EXCEEDED: RUN,
  INVALID_INPUT: INPUT,
  INVALID_RESULT: LOG,
  RESULT_TOO_LARGE: LOG,
  RESULT_NOT_STORED: RUN,
  OUT_OF_MEMORY: (execution) => ({
    kind: "copy",
    text: `"memory": ${proposeMemory(execution)}`,
    what: "line for platform.json",
  }),
  TIMEOUT: LOG,
  CANCELLED: RUN,
  DATA_REFERENCE_UNAVAILABLE: INPUT,
  WORKER_LOST: LOG,
};

/** Runs a job that has ended once more, on the machine of who types it. */
export function toReplay(id: string): string {
  return `platform run --replay ${id}`;
}

/** Why an execution cannot be run again elsewhere; null: it can be, if its version is the organisation's own, live or retired. */
export function refuseReplay({
  terminal,
  areContentsShown,
  inputBytes,
}: Pick<Execution, "terminal" | "areContentsShown" | "inputBytes">): string | null {
  if (!areContentsShown) return "Its input belongs to the subscriber, and is not shown to anybody else.";
  if (!terminal) return "It has not ended yet, so there is nothing to compare with.";
  return inputBytes === undefined ? "Its input is not kept any more." : null;
}

/** What a code means and what to do; null: the service has chosen the code itself. */
export function explainCode(
  execution: Execution,
): { readonly meaning: string; readonly advice: string; readonly next: NextStep } | null {
  const code = execution.code ?? "";
  if (!isKnown(code)) return null;
  const advice = ADVICE[code];
  const next = NEXT[code];
  return {
    meaning: FAILURE_WORDS[code],
    advice: typeof advice === "string" ? advice : advice(execution),
    next: typeof next === "function" ? next(execution) : next,
  };
}

function isKnown(code: string): code is keyof typeof FAILURE_WORDS {
  return Object.hasOwn(FAILURE_WORDS, code);
}
