import type { Step } from "../../base/machine.ts";
import { SECOND } from "../../base/time.ts";
import { notStarted } from "../child/answers.ts";
import type { BootReport, ChildReport } from "./boot-machine.ts";
import {
  canServe,
  chooseTarget,
  countIdle,
  countRunning,
  countStarting,
  hasZygote,
  isBarred,
  isBusy,
  isStarting,
} from "./pool-state.ts";
import type { Child, PoolEffect, PoolEvent, PoolState, Ticket } from "./pool-state.ts";
import {
  boot,
  disconnect,
  endZygote,
  forget,
  move,
  order,
  refuse,
  refuseQueue,
  remove,
  set,
} from "./pool-turn.ts";
import type { Turn } from "./pool-turn.ts";
import { tick, trim, wantReplacement } from "./pool-upkeep.ts";
import { describeEndedChild, describeLateChild } from "./start-failure.ts";
import type { BootFailure } from "./start-failure.ts";

/** A version that failed to boot this many times in a row is parked. */
const PARK_AFTER = 3;
const FULL = "Memory that ended executions have left keeps all control groups of the version from use.";
/** After this many zygotes in a row that ended before a child was ready, the waiting executions are refused. */
const MAX_BOOTS_WITHOUT_CHILD = 3;
const STOPPED: BootFailure = {
  outcome: notStarted("worker", "The worker was stopped before the execution began."),
  lines: [],
};

/**
 * The transitions of a pool: the zygote of one version, its children, and the executions that wait for a child.
 *
 * Each child runs one execution and is never used again. Spare children are ordered once an answer has arrived (before that,
 * they would compete with the function for the processor: p95 4.2 instead of 1.6 ms on 2 cores), unless no child is left.
 * Reports may have been written by user code, which shares a process with the zygote: no report ends the supervision of an
 * execution, and a child that is reported as exited is given none.
 *
 * @param now monotonic milliseconds
 */
export function reducePool(state: PoolState, event: PoolEvent, now: number): Step<PoolState, PoolEffect> {
  const turn: Turn = { state, effects: [], now };
  handle(turn, event);
  settle(turn);
  return { state: turn.state, effects: turn.effects };
}

function handle(turn: Turn, event: PoolEvent): void {
  switch (event.type) {
    case "submit":
      return submit(turn, event.execution);
    case "withdraw":
      return set(turn, { queue: turn.state.queue.filter((waiting) => waiting !== event.execution) });
    case "connected":
      return connect(turn, event.child, event.failure);
    case "answered":
      return refill(turn);
    case "stuck":
      return endZygote(turn, "kill");
    case "tick":
      return tick(turn, event.memory);
    case "prepare":
      return prepare(turn);
    case "trim":
      return trim(turn);
    case "retire":
      return retire(turn);
    case "close":
      set(turn, { intent: "close" });
      return refuseQueue(turn, STOPPED);
    case "reported":
      return hear(turn, event.report);
  }
}

/** Starts the zygote before anything is submitted. */
function prepare(turn: Turn): void {
  const { phase, intent, barred } = turn.state;
  if (phase.name === "cold" && intent === "serve" && barred === null) boot(turn);
}

function retire(turn: Turn): void {
  if (turn.state.intent === "serve") set(turn, { intent: "retire" });
}

/** Invariants after every event: each waiting execution has a child on order, and a pool that is to end does so when nothing is left. */
function settle(turn: Turn): void {
  if (turn.state.queue.length > 0 && !hasZygote(turn.state)) boot(turn);
  if (canServe(turn.state.phase)) order(turn, turn.state.queue.length - countStarting(turn.state));
  const { intent, phase } = turn.state;
  if (phase.name === "closed" || intent === "serve" || (intent === "retire" && isBusy(turn.state))) return;
  if (hasZygote(turn.state)) return endZygote(turn, "stop");
  set(turn, { phase: { name: "closed" } });
  turn.effects.push({ type: "closed" });
}

function submit(turn: Turn, execution: Ticket): void {
  const { phase, intent, children, barred } = turn.state;
  if (phase.name === "closed" || intent === "close") return refuse(turn, execution, STOPPED);
  set(turn, { lastUsed: turn.now });
  if (barred !== null && turn.now < barred.until) return refuse(turn, execution, barred.failure);
  const child = canServe(phase) ? children.findLast(({ stage }) => stage === "idle") : undefined;
  if (child !== undefined) return handOver(turn, child, execution);
  set(turn, { queue: [...turn.state.queue, execution] });
}

function connect(turn: Turn, id: number, failure: BootFailure | null): void {
  const { phase, children, queue, startMode } = turn.state;
  const child = children.find((known) => known.id === id);
  if (child?.stage !== "ordered" || !canServe(phase))
    return void turn.effects.push({ type: "disconnect", child: id });
  set(turn, { bootsWithoutChild: 0 });
  if (phase.name === "warm") set(turn, { phase: { ...phase, provenAt: turn.now } });
  if (startMode === "spawn" && failure === null) praise(turn);
  if (startMode === "spawn" && failure !== null) blame(turn, child, failure);
  // It answers with the failure, whose log has what the import printed.
  const [next] = queue;
  if (next === undefined) move(turn, child, { stage: "idle" });
  else handOver(turn, child, next);
  dismiss(turn);
}

function handOver(turn: Turn, child: Child, execution: Ticket): void {
  set(turn, { queue: turn.state.queue.filter((waiting) => waiting !== execution) });
  move(turn, child, { stage: "running", execution });
  const { peak } = turn.state;
  set(turn, { peak: { ...peak, present: Math.max(peak.present, countRunning(turn.state)) } });
  turn.effects.push({ type: "handOver", child: child.id, execution });
  if (countIdle(turn.state) === 0 && countStarting(turn.state) === 0) refill(turn);
}

/** Orders spare children. */
function refill(turn: Turn): void {
  const { phase, intent, queue } = turn.state;
  if (!canServe(phase) || intent !== "serve" || isBarred(turn.state, turn.now)) return;
  order(turn, chooseTarget(turn.state) + queue.length - countIdle(turn.state) - countStarting(turn.state));
}

function hear(turn: Turn, report: BootReport): void {
  switch (report.event) {
    case "ready":
      warm(turn);
      if (report.mode === "fork") refill(turn);
      return;
    case "unsafe":
      return respawn(turn, report.reason);
    case "closed":
      return bury(turn, report.description, report.failure);
    case "full":
      return makeRoom(turn, report.id);
    case "exit":
    case "refused":
    case "gone":
      return hearOfChild(turn, report);
  }
}

function warm(turn: Turn): void {
  const { phase, startMode } = turn.state;
  if (phase.name !== "booting") return;
  const { now } = turn;
  // Also what nobody has used yet is idle from now on: a long import would leave it no time to take over from another zygote.
  set(turn, { phase: { name: "warm", since: now, provenAt: now, replaceFrom: now }, lastUsed: now });
  // In spawn mode it has imported nothing.
  if (startMode === "auto") praise(turn);
}

/** The project was imported. */
function praise(turn: Turn): void {
  const { failures } = turn.state;
  set(turn, { failures: 0, barred: null });
  if (failures < PARK_AFTER) return;
  const message = "a parked version started";
  turn.effects.push({ type: "log", level: "info", fields: { failures }, message });
}

/**
 * In spawn mode, a child could not import the project. The zygote stays: others may run. From the third time on the version is parked. Those
 * that were under way when one failed count with it: what all of them lacked may be there for the next.
 */
function blame(turn: Turn, { orderedAt }: Child, failure: BootFailure): void {
  const failures = turn.state.failures + 1;
  if (isBarred(turn.state, turn.now) || orderedAt < turn.state.failedAt) return;
  set(turn, { failedAt: turn.now });
  if (failures < PARK_AFTER) set(turn, { failures });
  else park(turn, failure);
}

/** A version that is parked keeps no execution waiting, and no child. */
function dismiss(turn: Turn): void {
  const { barred } = turn.state;
  if (barred === null || turn.now >= barred.until) return;
  refuseQueue(turn, barred.failure);
  for (const child of turn.state.children) if (child.stage === "idle") disconnect(turn, child);
}

function hearOfChild(turn: Turn, report: ChildReport): void {
  const child = turn.state.children.find(({ id }) => id === report.id);
  if (child === undefined) return;
  if (report.event === "exit") return exit(turn, child, report);
  if (report.event === "gone") return forgetGone(turn, child);
  // User code may have written it: a child that has connected was not refused.
  if (!isStarting(child)) return;
  remove(turn, child);
  forget(turn, child);
  failStart(turn, notStarted("version", `The system refused a process: ${report.reason}`));
}

/** What runs is not ended for it, as it would be when the child was late: another zygote has groups of its own. */
function makeRoom(turn: Turn, id: number): void {
  const child = turn.state.children.find((known) => known.id === id);
  if (child === undefined || !isStarting(child)) return;
  remove(turn, child);
  forget(turn, child);
  wantReplacement(turn, FULL);
  failStart(turn, notStarted("version", FULL));
}

function exit(turn: Turn, child: Child, report: Extract<BootReport, { readonly event: "exit" }>): void {
  const { startMode, settings } = turn.state;
  switch (child.stage) {
    case "ordered":
      return fail(turn, child, report.excess ?? describeEndedChild(report, startMode));
    case "late":
      return fail(turn, child, report.excess ?? describeLateChild(report, startMode, settings));
    case "idle":
      return disconnect(turn, child);
    case "running":
      move(turn, child, { stage: "exited", execution: child.execution });
      return void turn.effects.push({ type: "exit", execution: child.execution, exit: report });
    case "exited": // once: it is measured then
    case "failed":
    case "unused":
  }
}

function fail(turn: Turn, child: Child, outcome: BootFailure["outcome"]): void {
  move(turn, child, { stage: "failed", outcome });
}

/** Ignored before the exit was reported: an unsupervised execution would have no time limit and never end. */
function forgetGone(turn: Turn, child: Child): void {
  if (child.stage !== "failed" && child.stage !== "unused" && child.stage !== "exited") return;
  remove(turn, child);
  // What was made ahead and not used does not count as use, or a zygote that makes a child now and then would never be idle.
  if (child.stage === "exited") {
    set(turn, { lastUsed: turn.now });
    return void turn.effects.push({ type: "gone", execution: child.execution, child: child.id });
  }
  // In spawn mode it is the import that failed.
  const isZygoteAtFault = child.stage === "failed" && turn.state.startMode === "auto";
  if (isZygoteAtFault) wantReplacement(turn, "a child did not come up");
  forget(turn, child);
  if (child.stage !== "failed") return;
  failStart(turn, child.outcome);
  // Not of a zygote that ends because it cannot be forked: it imported the project itself.
  if (isZygoteAtFault || child.outcome.status !== "FAILED" || !canServe(turn.state.phase)) return;
  blame(turn, child, { outcome: child.outcome, lines: [] });
  dismiss(turn);
}

/** The first waiting execution gets the outcome: otherwise it would be tried again without end. */
function failStart(turn: Turn, outcome: BootFailure["outcome"]): void {
  const [next] = turn.state.queue;
  if (next === undefined) return;
  set(turn, { queue: turn.state.queue.slice(1) });
  refuse(turn, next, { outcome, lines: [] });
}

/** The zygote cannot fork safely: it is ended, and the next one starts a fresh interpreter for each child. */
function respawn(turn: Turn, reason: string): void {
  if (turn.state.phase.name !== "booting") return;
  set(turn, { startMode: "spawn", phase: { name: "ending" } });
  const message = "each execution of this version starts a fresh interpreter";
  turn.effects.push({ type: "log", level: "info", fields: { reason }, message });
}

/** The zygote has ended with all its processes. */
function bury(turn: Turn, description: string, failure: BootFailure | null): void {
  const { children, intent, bootsWithoutChild } = turn.state;
  const detail =
    intent === "close"
      ? "The worker was stopped while the execution ran."
      : `The worker's process ${description} while the execution ran.`;
  for (const child of children) {
    if (child.stage === "idle") turn.effects.push({ type: "disconnect", child: child.id });
    if (child.stage === "running" || child.stage === "exited")
      turn.effects.push({ type: "lost", execution: child.execution, detail });
  }
  set(turn, { phase: { name: "cold" }, children: [], bootsWithoutChild: bootsWithoutChild + 1 });
  if (failure !== null) refuseQueue(turn, failure);
  if (failure?.outcome.status === "FAILED") park(turn, failure);
  if (failure?.outcome.status === "NOT_STARTED") {
    const fields = { reason: failure.outcome.detail };
    turn.effects.push({ type: "log", level: "error", fields, message: "a zygote could not be started" });
  }
  if (turn.state.bootsWithoutChild <= MAX_BOOTS_WITHOUT_CHILD) return;
  const outcome = notStarted("version", "The zygote ends again and again before a child is ready.");
  refuseQueue(turn, { outcome, lines: [] });
}

/**
 * A project that cannot be started is not tried again for a while; from the third time on it is parked, each time for longer.
 * Executions get the failure with its traceback meanwhile, without a process.
 */
function park(turn: Turn, failure: BootFailure): void {
  const { settings } = turn.state;
  const failures = turn.state.failures + 1;
  const parkMs = Math.min(settings.maxParkMs, settings.parkMs * 2 ** (failures - PARK_AFTER));
  const pauseMs = failures < PARK_AFTER ? settings.failureMs : parkMs;
  set(turn, { failures, barred: { failure, until: turn.now + pauseMs } });
  if (failures < PARK_AFTER) return;
  const fields = { failures, parkedSeconds: pauseMs / SECOND, reason: failure.outcome.detail };
  const message = "a version is parked: it failed to start again and again";
  turn.effects.push({ type: "log", level: "warn", fields, message });
}
