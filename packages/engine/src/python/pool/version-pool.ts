import { createDeferred } from "../../base/deferred.ts";
import type { Deferred } from "../../base/deferred.ts";
import { readMonotonic } from "../../base/monotonic.ts";
import { MINUTE, SECOND } from "../../base/time.ts";
import type { Execution } from "../child/execution.ts";
import type { RunnableVersion } from "../port/runtime.ts";
import type { Connections } from "../wire/home-socket.ts";
import { startBoot } from "./boot.ts";
import { countChildren } from "./zygote-groups.ts";
import type { Boot, PoolHost } from "./boot.ts";
import { reducePool } from "./pool-machine.ts";
import {
  countIdle,
  countRunning,
  createPoolState,
  hasZygote,
  isBusy,
  isComing,
  isReady,
} from "./pool-state.ts";
import type { PoolEffect, PoolEvent, PoolState, Ticket } from "./pool-state.ts";
import { measureZygote } from "./zygote-memory.ts";
import type { ZygoteProcesses } from "./zygote.ts";
import type { ZygoteMemory } from "./zygote-memory.ts";
import { runMachine } from "../../base/machine.ts";

/** The kernel is waited for this long where it ends a run that was killed; no program makes it take longer but by an error of its own. */
const ENDING_MS = 10 * MINUTE;

/**
 * The zygote of one version and its children. `reducePool` decides; this file performs the effects.
 * When a zygote ends, the executions that were handed over to its children are lost, and those still queued boot the next zygote.
 */
export interface VersionPool {
  readonly version: RunnableVersion;
  /** Starts the zygote before anything is submitted. */
  readonly prepare: () => void;
  /** Whether what is submitted would run at once, or as soon as a fresh interpreter is there. */
  readonly isReady: () => boolean;
  /** See `isComing` of its state. */
  readonly isComing: () => boolean;
  readonly submit: (execution: Execution) => void;
  /** Removes an execution from the queue: it was cancelled before it began. */
  readonly withdraw: (execution: Execution) => void;
  /** Withdraws those that wait for a child, and returns them in the order of their arrival: another pool will serve them. */
  readonly handBack: () => readonly Execution[];
  readonly hasZygote: () => boolean;
  readonly isBusy: () => boolean;
  readonly countChildren: () => { readonly idle: number; readonly running: number };
  /** Monotonic milliseconds. */
  readonly lastUsed: () => number;
  /** The memory of its zygote and idle children; null when there is none that is ready. */
  readonly measure: () => Promise<ZygoteMemory | null>;
  /** Ends the idle children, unless something runs. */
  readonly trim: () => void;
  /** Called about every second: ends idle processes, and children that are not ready in time. */
  readonly tick: (memory: PoolState["memory"]) => void;
  /** Ends the zygote once nothing runs; resolves when it has ended. */
  readonly retire: () => Promise<void>;
  /** Ends the zygote now; resolves when it has ended. */
  readonly close: () => Promise<void>;
}

type ExecutionEffect = Extract<PoolEffect, { readonly type: "refuse" | "exit" | "gone" | "lost" }>;

/** The resources that the effects of the machine work on. */
interface Handles {
  readonly host: PoolHost;
  readonly version: RunnableVersion;
  readonly maxChildren: number;
  /** Executions that the machine knows, by their tickets. */
  readonly executions: Map<Ticket, Execution>;
  /** Connections of the children that have no execution yet. */
  readonly connections: Map<number, Connections>;
  readonly closed: Deferred<undefined>;
  readonly onReplace: (reason: string) => void;
  readonly dispatch: (event: PoolEvent) => void;
  /** Gives orders to the zygote; null until the first zygote is started. */
  boot: Boot | null;
  /** The process of the present zygote; null when there is none. */
  processes: ZygoteProcesses | null;
}

/**
 * Starts no process: the first execution does.
 *
 * @param onReplace another pool of the version should take the place of this one, because its zygote is old or makes no children
 */
export function createVersionPool(
  host: PoolHost,
  version: RunnableVersion,
  onReplace: (reason: string) => void,
): VersionPool {
  const maxChildren = countChildren(version.resources, host.settings);
  const { state, dispatch } = runMachine(
    createPoolState(host.settings, { startMode: version.startMode, maxChildren }, readMonotonic()),
    (current, event: PoolEvent) => reducePool(current, event, readMonotonic()),
    (effect: PoolEffect) => perform(handles, effect),
  );
  const closed = createDeferred<undefined>();
  const executions = new Map<Ticket, Execution>();
  const handles: Handles = {
    host,
    version,
    maxChildren,
    executions,
    connections: new Map(),
    closed,
    onReplace,
    dispatch,
    boot: null,
    processes: null,
  };
  let lastTicket: Ticket = 0;
  const end = (type: "retire" | "close"): Promise<void> => {
    dispatch({ type });
    return closed.promise;
  };

  return {
    version,
    prepare: () => dispatch({ type: "prepare" }),
    isReady: () => isReady(state()),
    isComing: () => isComing(state()),
    submit: (execution) => {
      executions.set((lastTicket += 1), execution);
      dispatch({ type: "submit", execution: lastTicket });
    },
    withdraw: (execution) => {
      const ticket = [...executions.keys()].find((known) => executions.get(known) === execution);
      if (ticket !== undefined) withdraw(handles, ticket);
    },
    handBack: () => state().queue.flatMap((ticket) => withdraw(handles, ticket) ?? []),
    hasZygote: () => hasZygote(state()),
    isBusy: () => isBusy(state()),
    countChildren: () => ({ idle: countIdle(state()), running: countRunning(state()) }),
    lastUsed: () => state().lastUsed,
    measure: async () => {
      if (handles.processes === null || state().phase.name !== "warm") return null;
      return measureZygote(handles.processes, countIdle(state()) > 0 && !isBusy(state()));
    },
    trim: () => dispatch({ type: "trim" }),
    tick: (memory) => tick(handles, memory),
    retire: () => end("retire"),
    close: () => end("close"),
  };
}

function withdraw({ executions, dispatch }: Handles, ticket: Ticket): Execution | undefined {
  const execution = executions.get(ticket);
  executions.delete(ticket);
  dispatch({ type: "withdraw", execution: ticket });
  return execution;
}

function perform(handles: Handles, effect: PoolEffect): void {
  const { host, version } = handles;
  if (concernsExecution(effect)) return inform(handles, effect);
  switch (effect.type) {
    case "boot":
      return boot(handles, effect.startMode);
    case "order":
      return handles.boot?.order(effect.order);
    case "handOver":
      return handOver(handles, effect.child, effect.execution);
    case "disconnect":
      return disconnect(handles, effect.child);
    case "log":
      return host.logger[effect.level]({ versionId: version.id, ...effect.fields }, effect.message);
    case "replace":
      return handles.onReplace(effect.reason);
    case "closed":
      return handles.closed.resolve(undefined);
  }
}

function concernsExecution(effect: PoolEffect): effect is ExecutionEffect {
  return ["refuse", "exit", "gone", "lost"].includes(effect.type);
}

function boot(handles: Handles, startMode: RunnableVersion["startMode"]): void {
  const { host, version, connections, dispatch } = handles;
  handles.boot = startBoot(host, {
    version,
    startMode,
    maxChildren: handles.maxChildren,
    onReport: (report) => {
      if (report.event === "closed") handles.processes = null;
      dispatch({ type: "reported", report });
    },
    onLaunched: (processes) => {
      handles.processes = processes;
    },
    onConnected: (child, opened, failure) => {
      connections.set(child, opened);
      dispatch({ type: "connected", child, failure });
    },
  });
}

function tick({ executions, dispatch }: Handles, memory: PoolState["memory"]): void {
  for (const execution of executions.values()) execution.checkMemory();
  dispatch({ type: "tick", memory });
}

function handOver(handles: Handles, child: number, ticket: Ticket): void {
  const { host, version, connections, dispatch } = handles;
  const execution = handles.executions.get(ticket);
  const opened = connections.get(child);
  if (execution === undefined || opened === undefined) return;
  connections.delete(child);
  handles.boot?.begin(child);
  execution.handOver(opened, {
    explainNetwork: () => host.sandbox.explainNetwork(version.network),
    signal: (signal) => handles.boot?.order({ order: "signal", id: child, signal }),
    measure: () => handles.boot?.measure(child) ?? null,
    inputs: handles.boot?.inputs() ?? null,
    door: handles.boot?.door() ?? null,
    needsLive: host.watcher !== null,
    onAnswered: () => dispatch({ type: "answered" }),
    // The kernel may have ended them just now, which the zygote is still to tell.
    onStuck: () => awaitEnd(handles, { child, ticket, latest: readMonotonic() + ENDING_MS, wasEnding: true }),
  });
}

/** An execution whose processes do not end, and the child that runs it. */
interface Stuck {
  readonly child: number;
  readonly ticket: Ticket;
  /** Monotonic milliseconds. */
  readonly latest: number;
  /** Whether the kernel was ending its processes at the last look, or may have been. */
  readonly wasEnding: boolean;
}

/** What a run has left may take the kernel long, for which its siblings do not end: the whole sandbox is killed where nothing is being ended. */
function awaitEnd(handles: Handles, stuck: Stuck): void {
  const { host, version, executions, dispatch } = handles;
  const execution = executions.get(stuck.ticket);
  if (execution === undefined) return;
  const isEnding = readMonotonic() < stuck.latest && handles.boot?.isEnding(stuck.child) === true;
  if (isEnding || stuck.wasEnding) {
    // Once more after the end, of which the zygote tells.
    setTimeout(() => awaitEnd(handles, { ...stuck, wasEnding: isEnding }), SECOND);
    return;
  }
  const { executionId } = execution.request;
  host.logger.warn(
    { versionId: version.id, executionId },
    "processes of an execution do not end: the whole sandbox is killed",
  );
  dispatch({ type: "stuck" });
}

function disconnect({ connections }: Handles, child: number): void {
  const opened = connections.get(child);
  connections.delete(child);
  for (const connection of [opened?.control, opened?.stdout, opened?.stderr]) connection?.destroy();
}

function inform({ executions, boot }: Handles, effect: ExecutionEffect): void {
  const execution = executions.get(effect.execution);
  if (execution === undefined) return;
  // Nothing follows the other three.
  if (effect.type !== "exit") executions.delete(effect.execution);
  switch (effect.type) {
    case "refuse":
      return execution.refuse(effect.outcome, effect.lines);
    case "exit":
      return execution.onExit(effect.exit);
    case "gone":
      return boot === null ? execution.onGone() : boot.bury(effect.child, execution.onGone);
    case "lost":
      return execution.onLost(effect.detail);
  }
}
