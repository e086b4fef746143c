import { describeExit, fail } from "./answers.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { Outcome, Run } from "../port/runtime.ts";

/** Why a run is killed before it ends: cancelled, or past its limit of time or memory. It becomes the run's outcome. */
export type KillReason =
  | Parameters<Run["kill"]>[0]
  | { readonly code: "OUT_OF_MEMORY"; readonly detail: string };

/** How the process that ran the code ended. */
export type ProcessEnd =
  | ({ readonly how: "exit" } & Pick<ExitEvent, "code" | "signal">)
  /** The whole sandbox ended. */
  | { readonly how: "lost"; readonly detail: string };

/** The facts from which the outcome of a run is decided; null: has not happened. */
interface Ending {
  /** The first kill that was ordered before the outcome was decided. */
  readonly kill: KillReason | null;
  /** What the code sent. */
  readonly answer: Outcome | null;
  /** How the process that ran the code ended. */
  readonly end: ProcessEnd | null;
}

/**
 * The outcome of a run that was handed over. A kill that was ordered before the answer came has precedence, so that a cancelled run is never
 * reported as succeeded; then the answer of the code; then how its process ended.
 */
export function toOutcome({ kill, answer, end }: Ending): Outcome {
  if (kill !== null) return fail(kill.code, kill.detail);
  if (answer !== null) return answer;
  if (end === null)
    return fail("EXECUTION_ERROR", "The code closed the runtime's own connection before run returned.");
  if (end.how === "lost") return { status: "UNKNOWN", code: "WORKER_LOST", detail: end.detail };
  return fail("EXECUTION_ERROR", `The process ${describeExit(end)} before run returned.`);
}
