import type { Step } from "../../base/machine.ts";
import type { LogLine } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { ExitEvent, ZygoteEvent } from "../wire/control-messages.ts";
import {
  describeEndedImport,
  describeEndedInterpreter,
  describeFailedImport,
  describeFailedSandbox,
  describeSilence,
  describeSlowImport,
  describeUnstartable,
} from "./start-failure.ts";
import type { BootFailure, StartOutcome } from "./start-failure.ts";
import type { ZygoteEnd } from "./zygote.ts";

/**
 * The life of one zygote process.
 *
 * starting: it has not sent anything yet; the hello limit runs. importing: it imports src/program.py; the boot limit runs.
 * ready: it forks children. stopping: it was ready, and its end was ordered. ending: its end was ordered before it was
 * ready, or it has reported why it cannot be. diagnosing: it ended without a report, and an empty sandbox shows whether the
 * cause is the machine. abandoning: its end was ordered meanwhile: that sandbox is ended too, since nobody asks any more.
 * closed: the end was reported; nothing follows.
 */
export type BootState =
  | { readonly name: "starting" | "importing" | "ready" | "stopping" | "closed" }
  /** `failure` is null when the end was ordered, also to boot the version again in another mode. */
  | { readonly name: "ending"; readonly failure: BootFailure | null }
  | { readonly name: "diagnosing"; readonly description: string; readonly printed: string }
  | { readonly name: "abandoning"; readonly description: string };

/** Orders that the pool can give at any time; after the end of the process they are dropped. */
export type PoolOrder =
  | { readonly order: "fork" | "forget"; readonly id: number }
  | { readonly order: "signal"; readonly id: number; readonly signal: 9 | 15 }
  /** `stop` lets it end its process tree and exit; `kill` ends every process of the sandbox at once. */
  | { readonly order: "stop" | "kill" };

/** What the machine is informed of, by the pool, the process and the timer. */
export type BootEvent =
  | { readonly type: "ordered"; readonly order: PoolOrder }
  /** `time` in milliseconds since the epoch. The event may have been written by user code. */
  | { readonly type: "said"; readonly said: ZygoteEvent; readonly time: number }
  | { readonly type: "printed"; readonly lines: readonly LogLine[] }
  | { readonly type: "limit" }
  | { readonly type: "unstartable"; readonly reason: string }
  /** All its processes have ended. `kept`: the lines that it printed before it was ready. */
  | { readonly type: "ended"; readonly end: ZygoteEnd; readonly kept: readonly LogLine[] }
  /** `fault`: why no sandbox at all works on this machine; null when sandboxes work. */
  | { readonly type: "diagnosed"; readonly fault: string | null };

/** Reports of a zygote about one of its children. `excess`: what it comes to for a child that was killed because of the memory of its own import. */
export type ChildReport =
  | (ExitEvent & { readonly excess?: StartOutcome })
  | Extract<ZygoteEvent, { readonly event: "refused" | "gone" }>;

/** Reports to the pool: `ready` or `unsafe` at most once, `closed` as the last. */
export type BootReport =
  | ChildReport
  /** No control group is free for a child: memory that others have left keeps all from use. It was not made. */
  | { readonly event: "full"; readonly id: number }
  | Extract<ZygoteEvent, { readonly event: "ready" | "unsafe" }>
  /** `description`: how the process ended, as a clause. `failure`: null when it was ready, or its end was ordered. */
  | { readonly event: "closed"; readonly description: string; readonly failure: BootFailure | null };

/** What `boot.ts` has to do. There is one timer: `startTimer` replaces it. `diagnose` is answered with `diagnosed`, after `stopDiagnosis` soon. */
export type BootEffect =
  | { readonly type: "order"; readonly order: PoolOrder }
  | { readonly type: "startTimer"; readonly milliseconds: number }
  | { readonly type: "stopTimer" | "diagnose" | "stopDiagnosis" | "dropLines" }
  | { readonly type: "keepLines" | "logLines"; readonly lines: readonly LogLine[] }
  | { readonly type: "report"; readonly report: BootReport };

type BootStep = Step<BootState, BootEffect>;
type BootSettings = Pick<Settings, "helloMs" | "bootMs">;

/** The first step: the process is being started. */
export function beginBoot({ helloMs }: BootSettings): BootStep {
  return step({ name: "starting" }, { type: "startTimer", milliseconds: helloMs });
}

/** The transitions of a zygote process. An event that has no transition in a state is ignored. */
export function reduceBoot(state: BootState, event: BootEvent, settings: BootSettings): BootStep {
  if (state.name === "closed") return step(state);
  switch (event.type) {
    case "ordered":
      return obey(state, event.order);
    case "said":
      return hear(state, event, settings);
    case "printed":
      return step(state, { type: wasReady(state) ? "logLines" : "keepLines", lines: event.lines });
    case "limit":
      return giveUp(state, settings);
    case "unstartable":
      return close("could not be started", { outcome: describeUnstartable(event.reason), lines: [] });
    case "ended":
      return bury(state, event.end, event.kept);
    case "diagnosed":
      break;
  }
  if (state.name === "abandoning") return close(state.description, null);
  if (state.name !== "diagnosing") return step(state);
  const { description, printed } = state;
  return close(description, {
    outcome: describeFailedSandbox(description, printed, event.fault),
    lines: [],
  });
}

function wasReady({ name }: BootState): boolean {
  return name === "ready" || name === "stopping";
}

function step(state: BootState, ...effects: readonly BootEffect[]): BootStep {
  return { state, effects };
}

function close(description: string, failure: BootFailure | null): BootStep {
  const report = { event: "closed", description, failure } as const;
  return step({ name: "closed" }, { type: "stopTimer" }, { type: "report", report });
}

function obey(state: BootState, order: PoolOrder): BootStep {
  const isEnd = order.order === "stop" || order.order === "kill";
  if (state.name === "diagnosing" && isEnd)
    return step({ name: "abandoning", description: state.description }, { type: "stopDiagnosis" });
  // There is no process that could obey.
  if (state.name === "diagnosing" || state.name === "abandoning") return step(state);
  const given = { type: "order", order } as const;
  const isEnding = state.name === "ending" || state.name === "stopping";
  if (!isEnd) return isEnding ? step(state) : step(state, given);
  if (isEnding) return step(state, given);
  if (state.name === "ready") return step({ name: "stopping" }, given);
  return step({ name: "ending", failure: null }, { type: "stopTimer" }, given);
}

function hear(
  state: BootState,
  { said, time }: Extract<BootEvent, { readonly type: "said" }>,
  { bootMs }: BootSettings,
): BootStep {
  switch (said.event) {
    case "hello":
      if (state.name !== "starting") return step(state);
      return step({ name: "importing" }, { type: "startTimer", milliseconds: bootMs });
    case "failed":
      if (state.name !== "importing") return step(state);
      // It waits for that: orders that come after its end would close the connection before its report was read.
      return step(
        { name: "ending", failure: describeFailedImport(said, time) },
        { type: "stopTimer" },
        { type: "order", order: { order: "stop" } },
      );
    // Once: user code that shares the process may write such lines without end.
    case "ready":
    case "unsafe":
      return state.name === "importing" ? judge(said) : step(state);
    case "exit":
    case "gone":
    case "refused":
      return relay(state, said);
    case "probed":
      break;
  }
  return step(state);
}

/** Before it is ready, it has no children to report on. */
function relay(state: BootState, report: ChildReport): BootStep {
  return wasReady(state) ? step(state, { type: "report", report }) : step(state);
}

function judge(report: Extract<BootReport, { readonly event: "ready" | "unsafe" }>): BootStep {
  const effects = [{ type: "stopTimer" }, { type: "report", report }] as const;
  if (report.event === "ready") return step({ name: "ready" }, { type: "dropLines" }, ...effects);
  return step({ name: "ending", failure: null }, { type: "order", order: { order: "stop" } }, ...effects);
}

function giveUp(state: BootState, settings: BootSettings): BootStep {
  const kill = { type: "order", order: { order: "kill" } } as const;
  const fail = (outcome: StartOutcome): BootStep =>
    step({ name: "ending", failure: { outcome, lines: [] } }, kill);
  if (state.name === "starting") return fail(describeSilence(settings));
  if (state.name === "importing") return fail(describeSlowImport(settings));
  return state.name === "ending" ? step(state, kill) : step(state);
}

function bury(state: BootState, end: ZygoteEnd, kept: readonly LogLine[]): BootStep {
  const { description, hasBegun, excess } = end;
  const fail = (outcome: StartOutcome, lines: readonly LogLine[] = []): BootStep =>
    close(description, { outcome, lines: [...kept, ...lines] });
  if (state.name === "ending" && state.failure !== null)
    return fail(state.failure.outcome, state.failure.lines);
  if (state.name === "importing") return fail(excess ?? describeEndedImport(description));
  if (state.name !== "starting") return close(description, null);
  if (excess !== null) return fail(excess);
  if (hasBegun) return fail(describeEndedInterpreter(description));
  const printed = kept.map((line) => line.message).join("; ");
  // The cause may be the version itself (its interpreter is a file of its environment): an empty sandbox shows which it is.
  return step({ name: "diagnosing", description, printed }, { type: "stopTimer" }, { type: "diagnose" });
}
