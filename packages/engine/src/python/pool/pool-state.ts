import type { LogFields } from "../../base/logger.ts";
import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { PoolOrder, BootReport } from "./boot-machine.ts";
import type { BootFailure, StartOutcome } from "./start-failure.ts";

/** The number by which the machine knows an execution; never reused. */
export type Ticket = number;

/** The state of the pool's zygote. */
type Phase =
  /** No zygote, and no execution waits for one. */
  | { readonly name: "cold" }
  /** The zygote is being started; the children that were ordered are started when it is ready. */
  | { readonly name: "booting" }
  /** In monotonic milliseconds: `provenAt` its last child came up; before `replaceFrom` no other zygote is asked for. */
  | {
      readonly name: "warm";
      readonly since: number;
      readonly provenAt: number;
      readonly replaceFrom: number;
    }
  /** The zygote is ending: no child is ordered and no execution handed over; queued executions wait for the next zygote. */
  | { readonly name: "ending" }
  /** Retired or closed, and all processes have ended. */
  | { readonly name: "closed" };

/** A child in one of its stages. `ordered`, `late` and `failed` have not connected: they count as starting. */
export type Child = {
  readonly id: number;
  readonly orderedAt: number;
} & ChildStage;

/** The stages of a child, from its order to the exit of its process. */
export type ChildStage =
  | { readonly stage: "ordered" }
  /** Killed because it was not ready in time, counted from when the zygote was ready; not gone yet. */
  | { readonly stage: "late" }
  /** Exited before it was ready. When it is gone, the first waiting execution gets the outcome. */
  | { readonly stage: "failed"; readonly outcome: StartOutcome }
  /** Connected; takes the next execution. */
  | { readonly stage: "idle" }
  /** Its connections were closed before it was given an execution: it is ending. */
  | { readonly stage: "unused" }
  | { readonly stage: "running"; readonly execution: Ticket }
  /** Its process has exited; processes that it started may still be running. */
  | { readonly stage: "exited"; readonly execution: Ticket };

/** The settings of the runtime that concern a pool. */
type PoolSettings = Pick<
  Settings,
  | "slots"
  | "bootMs"
  | "confirmMs"
  | "failureMs"
  | "parkMs"
  | "maxParkMs"
  | "idleMs"
  | "zygoteIdleMs"
  | "maxAgeMs"
  | "canaryMs"
  | "canaryLateMs"
  | "replaceMs"
>;

/** All that the machine knows of one version. Times are on the monotonic clock. */
export interface PoolState {
  readonly settings: PoolSettings;
  /** How many children can exist at the same time. */
  readonly maxChildren: number;
  readonly phase: Phase;
  /** `retire` ends the zygote once nothing runs, `close` ends it now. */
  readonly intent: "serve" | "retire" | "close";
  readonly startMode: RunnableVersion["startMode"];
  /** Executions without a child, in order of arrival. */
  readonly queue: readonly Ticket[];
  readonly children: readonly Child[];
  /** Id of the child that was ordered last; 0: none was. Ids are never reused. */
  readonly lastChild: number;
  /**
   * How many executions ran at once at most, in the present period of `idleMs`, which began at `since`, and in the previous one: a
   * version that is used again and again is known as such.
   */
  readonly peak: { readonly present: number; readonly previous: number; readonly since: number };
  readonly memory: "ample" | "tight";
  /** Boots in a row that failed because of the project; in spawn mode, imports of its children. */
  readonly failures: number;
  /** When the last of these imports failed, in monotonic milliseconds. */
  readonly failedAt: number;
  /** The project could not be started: until then (monotonic milliseconds), executions get the failure without a process. */
  readonly barred: { readonly failure: BootFailure; readonly until: number } | null;
  /** Zygotes in a row that ended before one child was ready. */
  readonly bootsWithoutChild: number;
  /** Monotonic milliseconds. */
  readonly lastUsed: number;
}

/** What the machine is informed of. */
export type PoolEvent =
  | { readonly type: "submit" | "withdraw"; readonly execution: Ticket }
  /** A child has opened its connections, which are kept until an effect disposes of them. */
  | {
      readonly type: "connected";
      readonly child: number;
      /** Why it could not import the project, as it says; null: it could, or the zygote did. */
      readonly failure: BootFailure | null;
    }
  /**
   * `answered`: an outcome is known. `stuck`: processes of an execution do not end though they were killed. `trim`: the idle
   * children have to go, because memory is scarce. `prepare`: the zygote is started before an execution comes.
   */
  | { readonly type: "answered" | "stuck" | "trim" | "prepare" | "retire" | "close" }
  /** `tight`: the zygotes of all versions come near to the memory that they may take. */
  | { readonly type: "tick"; readonly memory: PoolState["memory"] }
  | { readonly type: "reported"; readonly report: BootReport };

/** What `version-pool.ts` has to do. */
export type PoolEffect =
  | { readonly type: "boot"; readonly startMode: RunnableVersion["startMode"] }
  | { readonly type: "order"; readonly order: PoolOrder }
  | { readonly type: "handOver"; readonly child: number; readonly execution: Ticket }
  /** Closes the connections of a child that is given no execution. */
  | { readonly type: "disconnect"; readonly child: number }
  | {
      readonly type: "refuse";
      readonly execution: Ticket;
      readonly outcome: StartOutcome;
      readonly lines: readonly LogLine[];
    }
  | { readonly type: "exit"; readonly execution: Ticket; readonly exit: ExitEvent }
  /** The last effect of an execution: all its processes have ended, as the zygote says. */
  | { readonly type: "gone"; readonly execution: Ticket; readonly child: number }
  | { readonly type: "lost"; readonly execution: Ticket; readonly detail: string }
  /** Another zygote of the version is wanted in the place of this one. */
  | { readonly type: "replace"; readonly reason: string }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly fields: LogFields;
      readonly message: string;
    }
  /** The last effect of the pool. */
  | { readonly type: "closed" };

/** A cold pool without executions. `now` in milliseconds on the monotonic clock. */
export function createPoolState(
  settings: PoolSettings,
  { startMode, maxChildren }: Pick<PoolState, "startMode" | "maxChildren">,
  now: number,
): PoolState {
  return {
    settings,
    maxChildren,
    phase: { name: "cold" },
    intent: "serve",
    startMode,
    queue: [],
    children: [],
    lastChild: 0,
    peak: { present: 0, previous: 0, since: now },
    memory: "ample",
    failures: 0,
    failedAt: -Infinity,
    barred: null,
    bootsWithoutChild: 0,
    lastUsed: now,
  };
}

/** Whether the child has been ordered and has not connected. */
export function isStarting({ stage }: Child): boolean {
  return stage === "ordered" || stage === "late" || stage === "failed";
}

/** Children that have been ordered and have not connected, including those that have failed and are not gone yet. */
export function countStarting({ children }: PoolState): number {
  return children.filter(isStarting).length;
}

/** Children that are connected and wait for an execution. */
export function countIdle({ children }: PoolState): number {
  return children.filter(({ stage }) => stage === "idle").length;
}

/** Includes those whose process has exited while other processes of the execution are left. */
export function countRunning({ children }: PoolState): number {
  return children.filter(({ stage }) => stage === "running" || stage === "exited").length;
}

/**
 * How many children are made ahead at least. Two: a sequential caller uses one while the other is being prepared. A fresh interpreter is
 * made while the one before it runs, and takes the memory of a whole import.
 */
const MIN_TARGETS = { auto: 2, spawn: 1 } as const;

/** How many children a version keeps ready: as many as it needed at once of late. */
export function chooseTarget({ startMode, settings, peak, memory }: PoolState): number {
  const least = MIN_TARGETS[startMode];
  if (memory === "tight") return least;
  return Math.min(settings.slots, Math.max(least, peak.present, peak.previous));
}

/** Whether an execution waits for a child or has processes. */
export function isBusy(state: PoolState): boolean {
  return state.queue.length > 0 || countRunning(state) > 0;
}

/** Whether executions are refused for now, because the project could not be started. */
export function isBarred({ barred }: PoolState, now: number): boolean {
  return barred !== null && now < barred.until;
}

/** Whether there is a zygote process, or one is being started. */
export function hasZygote({ phase }: PoolState): boolean {
  return canServe(phase) || phase.name === "ending";
}

/** Whether children can be ordered and given executions. */
export function canServe({ name }: Phase): boolean {
  return name === "booting" || name === "warm";
}

/** Whether the zygote serves: it has made a child, or leaves the import to each child. */
export function isReady(state: PoolState): boolean {
  if (state.phase.name !== "warm") return false;
  return state.startMode === "spawn" || countIdle(state) > 0;
}

/** Whether a zygote that does not serve yet may still do so: it boots or ends, or a child of it is on order. */
export function isComing(state: PoolState): boolean {
  return state.phase.name === "warm" ? countStarting(state) > 0 : hasZygote(state);
}
