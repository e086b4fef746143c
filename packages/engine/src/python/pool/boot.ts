import { createTimers } from "../../base/timers.ts";
import type { Timers } from "../../base/timers.ts";
import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { decodeEvent } from "../wire/control-messages.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";
import type { Connections } from "../wire/home-socket.ts";
import { beginBoot, reduceBoot } from "./boot-machine.ts";
import type { BootEffect, BootEvent, PoolOrder, BootReport } from "./boot-machine.ts";
import { runMachine } from "../../base/machine.ts";
import { getMessage } from "../../base/thrown.ts";
import type { InputPlace } from "../child/encode-request.ts";
import type { Usage } from "../child/usage.ts";
import { createFamily, describeChild } from "../watch/family.ts";
import type { Family } from "../watch/family.ts";
import { createWatchedChildren } from "../watch/watched-children.ts";
import type { WatchedChildren } from "../watch/watched-children.ts";
import { createSlotBook } from "./slot-book.ts";
import type { SlotBook } from "./slot-book.ts";
import { createTokens } from "./tokens.ts";
import { limitRun } from "./zygote-groups.ts";
import { describeFailedImport, describeLargeImport } from "./start-failure.ts";
import type { BootFailure } from "./start-failure.ts";
import { redactionOf } from "../wire/secret-texts.ts";
import { startZygote } from "./zygote.ts";
import type { Zygote, ZygoteHost, ZygoteProcesses } from "./zygote.ts";

const SIGKILL = 9;

/** Dependencies that the zygotes and pools of one runtime share. */
export interface PoolHost extends ZygoteHost {
  readonly settings: Settings;
}

/** What to start, and who is informed: a version's pool. */
interface BootOptions {
  readonly version: RunnableVersion;
  /** Overrides the version's own: a pool falls back to `spawn` when the version cannot be forked. */
  readonly startMode: RunnableVersion["startMode"];
  /** See ZygoteOptions. */
  readonly maxChildren: number;
  readonly onReport: (report: BootReport) => void;
  /** What was started; it has ended when `closed` is reported. Not called when nothing could be started. */
  readonly onLaunched: (processes: ZygoteProcesses) => void;
  /**
   * A child that was ordered is ready, with its three connections; the callee owns them. At most once per child. `failure`: why it could not import
   * the project, where it does that itself; it will answer so.
   */
  readonly onConnected: (id: number, connections: Connections, failure: BootFailure | null) => void;
}

/** A zygote from its start to its end. Accepts orders at any time: they wait until the process is started. */
export interface Boot {
  readonly order: (order: PoolOrder) => void;
  /** An execution was handed over to a child: it is limited from now on. */
  readonly begin: (id: number) => void;
  /** Where the inputs of its executions go; null: no process is started yet. */
  readonly inputs: () => InputPlace | null;
  /** The door of the sandbox, as its processes name it; null: there is none, or no process is started yet. */
  readonly door: () => string | null;
  /** What a child has used until now; null: it is not measured. */
  readonly measure: (id: number) => Usage | null;
  /** Kills what is left of a child again; whether it has processes that have not ended yet, as the kernel shows, and will. False: that is not known. */
  readonly isEnding: (id: number) => boolean;
  /** Ends what is left of a child that is said to be gone; calls back, at once if it can, when nothing is. */
  readonly bury: (id: number, onEmpty: () => void) => void;
}

/** The resources that the effects of the machine work on. */
interface Handles {
  readonly host: PoolHost;
  readonly options: BootOptions;
  readonly timers: Timers<"limit">;
  readonly drawToken: () => string;
  /** Tokens of the children that were ordered and have not connected. */
  readonly tokens: Map<number, string>;
  readonly family: Family;
  readonly slots: SlotBook;
  readonly watched: WatchedChildren;
  /** Output of the zygote from before it was ready. */
  readonly kept: LogLine[];
  readonly dispatch: (event: BootEvent) => void;
  /** Ends the look at an empty sandbox. */
  readonly abandoned: AbortController;
  /** The orders that wait for the process; then the process itself. */
  zygote: Zygote | PoolOrder[];
}

/** Begins to start the process at once. Never throws: a process that cannot be started is reported as `closed`. */
export function startBoot(host: PoolHost, options: BootOptions): Boot {
  const begin = beginBoot(host.settings);
  const { dispatch } = runMachine(
    begin.state,
    (state, event: BootEvent) => reduceBoot(state, event, host.settings),
    (effect: BootEffect) => perform(handles, effect),
  );
  const timers = createTimers<"limit">();
  const slots = createSlotBook(
    () => (Array.isArray(handles.zygote) ? null : handles.zygote.groups),
    options.maxChildren,
  );
  const watched = createWatchedChildren(host.watcher, limitRun(options.version.resources), options.startMode);
  const handles: Handles = {
    host,
    options,
    timers,
    drawToken: createTokens(),
    tokens: new Map(),
    family: createFamily(),
    slots,
    watched,
    kept: [],
    dispatch,
    abandoned: new AbortController(),
    zygote: [],
  };
  for (const effect of begin.effects) perform(handles, effect);
  void live(handles);
  return {
    order: (order) => dispatch({ type: "ordered", order }),
    begin: watched.begin,
    inputs: () => (Array.isArray(handles.zygote) ? null : handles.zygote.inputs),
    door: () => (Array.isArray(handles.zygote) ? null : handles.zygote.door),
    measure: (id) => measure(handles, id),
    isEnding: (id) => isEnding(handles, id),
    bury: (id, onEmpty) => {
      watched.end(id);
      slots.bury(id, onEmpty);
    },
  };
}

async function live(handles: Handles): Promise<void> {
  const { host, options, kept, dispatch } = handles;
  let zygote: Zygote;
  try {
    zygote = await startZygote(host, {
      version: options.version,
      startMode: options.startMode,
      probe: null,
      onEvent: (said) => hear(handles, said),
      maxChildren: options.maxChildren,
      onOutput: (lines) => dispatch({ type: "printed", lines }),
    });
  } catch (error) {
    const reason = getMessage(error);
    return dispatch({ type: "unstartable", reason });
  }
  options.onLaunched(zygote.processes);
  const waiting = handles.zygote;
  handles.zygote = zygote;
  if (Array.isArray(waiting)) for (const order of waiting) obey(handles, zygote, order);
  const end = await zygote.closed;
  handles.watched.close();
  dispatch({ type: "ended", end, kept });
}

function hear({ dispatch, family, zygote }: Handles, said: ZygoteEvent): void {
  if (said.event === "hello" && !Array.isArray(zygote)) family.open(zygote.processes.pid, said.pid);
  const event = { type: "said", said, time: Date.now() } as const;
  // What it printed before that came on another pipe: it is there, and is read in this round of the event loop.
  if (said.event === "ready") setImmediate(() => dispatch(event));
  else dispatch(event);
}

/** A child counts when its process is known and limited. Which one it is the child says; it may say so of a child of its zygote, once. */
async function admit(handles: Handles, id: number, token: string, number: number): Promise<void> {
  const { host, options, family, slots, watched, zygote } = handles;
  if (Array.isArray(zygote)) return;
  const child = options.startMode === "spawn" ? "told" : "untold";
  if (host.watcher === null && zygote.groups === null) return zygote.home.admit(token, child);
  const process = family.find(number);
  if (process !== null && host.watcher !== null) watched.meet(id, describeChild(process));
  if (process !== null && (await slots.enter(id, process))) zygote.home.admit(token, child);
  else zygote.home.forget(token); // it ends without its connections; else it would be waited for until it is late
}

function perform(handles: Handles, effect: BootEffect): void {
  const { host, options, timers, kept, dispatch, zygote } = handles;
  switch (effect.type) {
    case "order":
      return Array.isArray(zygote) ? void zygote.push(effect.order) : obey(handles, zygote, effect.order);
    case "startTimer":
      return timers.set("limit", effect.milliseconds, () => dispatch({ type: "limit" }));
    case "stopTimer":
      return timers.clear("limit");
    case "keepLines":
      return void kept.push(...effect.lines);
    case "dropLines":
      kept.length = 0;
      return;
    case "logLines":
      return logOutput(host, options.version, effect.lines);
    case "diagnose":
      return void host.sandbox
        .findFault(handles.abandoned.signal)
        .then((fault) => dispatch({ type: "diagnosed", fault }));
    case "stopDiagnosis":
      return handles.abandoned.abort();
    case "report":
      return options.onReport(judge(handles, effect.report));
  }
}

/** What it prints while no execution runs: the operator's log has no secrets of services either. */
function logOutput({ logger }: PoolHost, version: RunnableVersion, lines: readonly LogLine[]): void {
  const redact = redactionOf(version.secrets);
  for (const { message } of lines)
    logger.warn({ versionId: version.id, output: redact(message) }, "output of a zygote");
}

/** Null also where a group was removed by others than this process: a run that is killed is measured before. */
function measure({ slots, watched }: Handles, id: number): Usage | null {
  try {
    return slots.find(id)?.measure() ?? watched.measure(id);
  } catch {
    return null;
  }
}

function isEnding({ slots, watched }: Handles, id: number): boolean {
  try {
    const group = slots.find(id);
    if (group === null) return watched.isEnding(id);
    group.kill();
    return !group.isEmpty();
  } catch {
    return false; // the group was removed by others
  }
}

/** A child that imports the version itself may end because that takes too much memory: what was seen of it says so. */
function judge(handles: Handles, report: BootReport): BootReport {
  const { options } = handles;
  if (report.event !== "exit" || options.startMode !== "spawn") return report;
  const usage = measure(handles, report.id);
  return usage === null || usage.outOfMemoryKills === 0
    ? report
    : { ...report, excess: describeLargeImport(options.version.resources) };
}

function obey(handles: Handles, { home, send, stop, kill }: Zygote, order: PoolOrder): void {
  const { options, drawToken, tokens, slots, watched } = handles;
  switch (order.order) {
    case "fork": {
      const token = drawToken();
      tokens.set(order.id, token);
      home.expect(token, {
        onCall: (number) => void admit(handles, order.id, token, number),
        onComplete: (connections, cause) => {
          tokens.delete(order.id);
          options.onConnected(order.id, connections, readImportFailure(cause));
        },
      });
      return takeSlot(handles, order.id, () => send({ order: "fork", id: order.id, token }));
    }
    case "forget":
      home.forget(tokens.get(order.id) ?? "");
      tokens.delete(order.id);
      watched.end(order.id);
      return slots.bury(order.id, () => undefined);
    case "signal":
      // Not only by the zygote, which runs code of the project.
      if (order.signal === SIGKILL) slots.find(order.id)?.kill();
      else watched.release(order.id);
      return send({ order: "kill", id: order.id, signal: order.signal });
    case "stop":
      return stop();
    case "kill":
      return kill();
  }
}

/** @param cause what a child said with the word that it is ready: nothing, or the event `failed` */
function readImportFailure(cause: Buffer): BootFailure | null {
  const event = cause.length === 0 ? null : decodeEvent(cause.toString("utf8"));
  return event?.event === "failed" ? describeFailedImport(event, Date.now()) : null;
}

/** Not as an event of the zygote, which is not heard of children before it is ready: a child that is never made would be waited for. */
function takeSlot({ slots, options }: Handles, id: number, onReady: () => void): void {
  try {
    slots.take(id, onReady, () => options.onReport({ event: "full", id }));
  } catch (error) {
    const reason = `no control group could be made for it (${getMessage(error)})`;
    options.onReport({ event: "refused", id, reason });
  }
}
