/** The types of the state machine of one run (`run-machine.ts`): its states, events and effects. */

import type { Step } from "../../base/machine.ts";
import type { AnswerEvent } from "./answers.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { LogLine, NotStarted, Outcome, Run } from "../port/runtime.ts";

/** Why a run is killed before it ends: cancelled, or past its limit of time or memory. It becomes the run's outcome. */
export type KillReason =
  /** `isAsked`: its processes are asked to end before they are killed, as those of a run that is cancelled. */
  | (Parameters<Run["kill"]>[0] & { readonly isAsked?: true })
  | { readonly code: "OUT_OF_MEMORY"; readonly detail: string };

/** How the process that ran the code ended. */
export type ProcessEnd =
  | ({ readonly how: "exit" } & Pick<ExitEvent, "code" | "signal">)
  /** The whole sandbox ended. */
  | { readonly how: "lost"; readonly detail: string };

/** The steps of the processes of a run towards their end. All but the first, `stuck` and `gone` have a time limit. */
export type Processes =
  /** The code runs. */
  | "running"
  /** It has answered and may end by itself. */
  | "leaving"
  /** SIGTERM was sent. */
  | "terminating"
  /** SIGKILL was sent; the zygote has to confirm the end. */
  | "killed"
  /** They did not end: the whole sandbox must be killed. */
  | "stuck"
  | "gone";

/** The request was handed to a child, and no outcome is decided. */
export interface Running {
  readonly name: "running";
  readonly processes: Processes;
  /** `receiving`: an answer has begun to arrive, and is not stored yet. */
  readonly control: "open" | "receiving" | "closed";
  /** End of the process that runs the code, once the zygote has reported it. */
  readonly end: ProcessEnd | null;
  /** The first kill that was ordered: it decides the outcome. */
  readonly kill: KillReason | null;
}

/** The outcome is decided; output from before it is still being stored. */
export interface Answered {
  readonly name: "answered";
  readonly processes: Processes;
  readonly outcome: Outcome | NotStarted;
}

/** The outcome was reported; some processes of the run are left. */
export interface Settled {
  readonly name: "settled";
  readonly processes: Processes;
}

/** `queued`: it waits for a child, and no process knows of it. `ended`: the outcome was reported and no process is left. */
export type RunState =
  | { readonly name: "queued" }
  | Running
  | Answered
  | Settled
  | { readonly name: "ended" };

/**
 * `limit`: time limit of the run. `answer`: wait for an answer that may still arrive after the end of the process or its connection. The
 * others: limits of steps of the processes.
 */
export type Timer = "limit" | "answer" | "exit" | "grace" | "confirm";

/** What the machine is informed of, by the pool, the child's connections, the timers and the caller. */
export type RunEvent =
  | { readonly type: "handedOver" }
  /** It cannot be handed over; `lines` go to its log. */
  | {
      readonly type: "refused";
      readonly outcome: Outcome | NotStarted;
      readonly lines: readonly LogLine[];
    }
  /** Cancelled, or past its time limit. */
  | { readonly type: "kill"; readonly reason: KillReason }
  | AnswerEvent
  | { readonly type: "exit"; readonly exit: Pick<ExitEvent, "code" | "signal"> }
  /** All processes of the run have ended. */
  | { readonly type: "gone" }
  /** The sandbox ended with all its processes. */
  | { readonly type: "lost"; readonly detail: string }
  | { readonly type: "timeUp"; readonly timer: Exclude<Timer, "limit"> }
  /** The log is stored. */
  | { readonly type: "drained" };

/** Actions on the child that the run was handed to. */
export type ChildAction =
  /** Write the request, read the log and the answer. */
  | "serve"
  | "closeControl"
  /** SIGTERM to every process of the run. */
  | "terminate"
  /** SIGKILL to every process of the run. */
  | "kill"
  | "killSandbox"
  /** The pool may prepare the next child. */
  | "reportAnswered";

/** What `execution.ts` has to do. Each `report` and `settle` comes once. */
export type RunEffect =
  | { readonly type: "child"; readonly action: ChildAction }
  | { readonly type: "startTimer" | "stopTimer"; readonly timer: Timer }
  | { readonly type: "reportBegun"; readonly begun: boolean }
  | { readonly type: "writeLog"; readonly lines: readonly LogLine[] }
  | { readonly type: "drainLog" }
  | { readonly type: "settle"; readonly outcome: Outcome | NotStarted }
  /** The vCPUs and the memory of the run are free. */
  | { readonly type: "reportEnded" }
  /** The run must be removed from the queue. */
  | { readonly type: "withdraw" };

/** The result of an event: the next state, and the effects. */
export type RunStep<S extends RunState = RunState> = Step<S, RunEffect>;
