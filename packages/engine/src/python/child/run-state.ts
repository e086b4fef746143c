/** The words of the machine of one run (`run-machine.ts`): its states, what happens to it, and what it wants done. */

import type { Step } from "../../base/machine.ts";
import type { AnswerEvent } from "./answers.ts";
import type { KillReason, ProcessEnd } from "./ending.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { LogLine, NotStarted, Outcome } from "../port/runtime.ts";

/** How far the processes of a run are from their end. All but the first, `stuck` and `gone` are left after a time. */
export type Processes =
  /** The code runs. */
  | "running"
  /** It has answered and may end by itself. */
  | "leaving"
  /** SIGTERM was sent. */
  | "terminating"
  /** SIGKILL was sent; the zygote has to confirm the end. */
  | "killed"
  /** They did not end: the whole sandbox is to be killed. */
  | "stuck"
  | "gone";

export interface Running {
  readonly name: "running";
  readonly processes: Processes;
  readonly control: "open" | "closed";
  /** Of the process that runs the code, as far as the zygote has said. */
  readonly end: ProcessEnd | null;
  /** The first kill that was ordered: it decides the outcome. */
  readonly kill: KillReason | null;
}

export interface Queued {
  readonly name: "queued";
}

export interface Answered {
  readonly name: "answered";
  readonly processes: Processes;
  readonly outcome: Outcome | NotStarted;
}

export interface Settled {
  readonly name: "settled";
  readonly processes: Processes;
}

export type RunState = Queued | Running | Answered | Settled | { readonly name: "ended" };

/** Times that a step of the processes may take. */
export type StepTimer = "exit" | "grace" | "confirm";
/** `limit`: of the run. `answer`: for an answer that may still be on its way when the process or its connection has ended. */
export type Timer = "limit" | "answer" | StepTimer;

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
  /** No process of the run is left. */
  | { readonly type: "gone" }
  /** The sandbox ended with all its processes. */
  | { readonly type: "lost"; readonly detail: string }
  | { readonly type: "timeUp"; readonly timer: Exclude<Timer, "limit"> }
  /** What was printed is stored. */
  | { readonly type: "drained" };

/** What is to be done with the child that the run was handed to. */
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

export type RunEffect =
  | { readonly type: "child"; readonly action: ChildAction }
  | { readonly type: "startTimer" | "stopTimer"; readonly timer: Timer }
  | { readonly type: "reportBegun"; readonly begun: boolean }
  | { readonly type: "writeLog"; readonly lines: readonly LogLine[] }
  | { readonly type: "drainLog" }
  | { readonly type: "settle"; readonly outcome: Outcome | NotStarted }
  /** The vCPUs and the memory of the run are free. */
  | { readonly type: "reportEnded" }
  /** It is to leave the queue. */
  | { readonly type: "withdraw" };

/** What an event leads to. */
export type RunStep<S extends RunState = RunState> = Step<S, RunEffect>;
