import { GIGABYTE } from "../../base/bytes.ts";
import { SECOND } from "../../base/time.ts";
import { listenForAnswer } from "./answers.ts";
import { createDeferred } from "../../base/deferred.ts";
import { runMachine } from "../../base/machine.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import { FRAME, encodeFrame, encodeHeader } from "../wire/frames.ts";
import type { Connections } from "../wire/home-socket.ts";
import { createJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import { QUEUED, reduce } from "./run-machine.ts";
import type { ChildAction, RunEffect, RunEvent, Timer } from "./run-state.ts";
import type { LogLine, NotStarted, Outcome, Run, RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { createMeter } from "./usage.ts";
import type { Meter, Usage } from "./usage.ts";
import { createTimers } from "../../base/timers.ts";

const SIGTERM = 15;
const SIGKILL = 9;
/** Time for reading an answer that was sent before its process ended: it may be large, or wait for its turn. */
const ANSWER_MS = SECOND;

/** The parts of the pool that an execution uses. */
interface ExecutionHost {
  /** Sends a signal to the whole execution through its zygote; SIGKILL ends every process of it. */
  readonly signal: (signal: 9 | 15) => void;
  /** What keeps the execution from other hosts, as a sentence; null: nothing but the network itself. */
  readonly explainNetwork: () => string | null;
  /** What the execution has used until now; null: it is not measured, or its processes are gone. */
  readonly measure: () => Usage | null;
  /** Whether `measure` reads live processes: one that has answered then waits until that was done. */
  readonly needsLive: boolean;
  /** The answer is known; the process may still be running. */
  readonly onAnswered: () => void;
  /** The processes do not end: the whole sandbox must be killed. */
  readonly onStuck: () => void;
}

/**
 * One run, from the queue to the end of its processes: performs what `run-machine.ts` decides.
 *
 * `run.outcome` settles once the outcome is decided and the log is stored, `run.ended` when no process is left.
 */
export interface Execution {
  readonly run: Run;
  readonly request: RunRequest;
  readonly handOver: (connections: Connections, host: ExecutionHost) => void;
  /** Ends an execution that was never handed over. */
  readonly refuse: (outcome: Outcome | NotStarted, lines?: readonly LogLine[]) => void;
  /** Called about every second: kills a run that has lost a process to its memory limit and goes on with the others. */
  readonly checkMemory: () => void;
  readonly onExit: (exit: ExitEvent) => void;
  readonly onGone: () => void;
  /** The sandbox has ended with all its processes. */
  readonly onLost: (detail: string) => void;
}

/** @param onRefused called when a kill ends the execution before it was handed over: it must leave the queue. */
export function createExecution(request: RunRequest, settings: Settings, onRefused: () => void): Execution {
  const outcome = createDeferred<Outcome | NotStarted>();
  const began = createDeferred<boolean>();
  const ended = createDeferred<undefined>();
  const timers = createTimers<Timer>();
  const durations = listDurations(request, settings);
  const journal = createJournal(settings, request.onLog);
  const { state, dispatch } = runMachine(QUEUED, reduce, perform);
  let performOnChild: ((action: ChildAction) => void) | null = null;
  const meter = createMeter(request.version.resources);

  function perform(effect: RunEffect): void {
    switch (effect.type) {
      case "child":
        return performOnChild?.(effect.action);
      case "startTimer":
        return timers.set(effect.timer, durations[effect.timer], () =>
          dispatch(expire(effect.timer, request)),
        );
      case "stopTimer":
        return timers.clear(effect.timer);
      case "reportBegun":
        return began.resolve(effect.begun);
      case "writeLog":
        return journal.write(effect.lines);
      case "drainLog":
        return void journal.drain().then(() => dispatch({ type: "drained" }));
      case "settle":
        return outcome.resolve(meter.apply(effect.outcome));
      case "reportEnded":
        return ended.resolve(undefined);
      case "withdraw":
        return onRefused();
    }
  }

  return {
    run: {
      began: began.promise,
      outcome: outcome.promise,
      ended: ended.promise,
      kill: (reason) => dispatch({ type: "kill", reason }),
    },
    request,
    handOver: (connections, host) => {
      if (state().name !== "queued") return;
      performOnChild = attendChild({ connections, host, journal, request, settings, meter, dispatch });
      dispatch({ type: "handedOver" });
    },
    refuse: (refused, lines = []) => dispatch({ type: "refused", outcome: refused, lines }),
    checkMemory: () => checkMemory(meter, dispatch),
    onExit: ({ code, signal }) => {
      // The answer may be read only when the processes are gone, and with them what is measured. Not `take`: code at import may have said it.
      meter.look();
      dispatch({ type: "exit", exit: { code, signal } });
    },
    onGone: () => dispatch({ type: "gone" }),
    onLost: (detail) => dispatch({ type: "lost", detail }),
  };
}

function checkMemory(meter: Meter, dispatch: (event: RunEvent) => void): void {
  const detail = meter.findExcess();
  if (detail !== null) dispatch({ type: "kill", reason: { code: "OUT_OF_MEMORY", detail } });
}

/** In milliseconds. */
function listDurations(request: RunRequest, settings: Settings): Readonly<Record<Timer, number>> {
  return {
    limit: request.timeoutSeconds * SECOND,
    answer: ANSWER_MS,
    exit: settings.exitMs,
    grace: settings.graceMs,
    confirm: settings.confirmMs,
  };
}

function expire(timer: Timer, { timeoutSeconds }: RunRequest): RunEvent {
  if (timer !== "limit") return { type: "timeUp", timer };
  const detail = `The execution exceeded its time limit of ${timeoutSeconds} s.`;
  return { type: "kill", reason: { code: "TIMEOUT", detail } };
}

interface ChildOptions {
  readonly connections: Connections;
  readonly host: ExecutionHost;
  readonly journal: Journal;
  readonly request: RunRequest;
  readonly settings: Settings;
  readonly meter: Meter;
  readonly dispatch: (event: RunEvent) => void;
}

function attendChild(options: ChildOptions): (action: ChildAction) => void {
  const { connections, host, meter } = options;
  meter.attach(host.measure);
  return (action) => {
    switch (action) {
      case "serve":
        return serve(options);
      case "closeControl":
        meter.take(); // a process that was asked to linger ends then
        return connections.control.destroy();
      case "terminate":
        meter.look();
        return host.signal(SIGTERM);
      case "kill":
        meter.look();
        return host.signal(SIGKILL);
      case "killSandbox":
        return host.onStuck();
      case "reportAnswered":
        return host.onAnswered();
    }
  };
}

function serve({ connections, host, journal, request, settings, dispatch }: ChildOptions): void {
  connections.control.write(encodeRequest(request, settings.resultBytes, host.needsLive));
  journal.read(connections.stdout, connections.stderr);
  listenForAnswer(connections.control, settings.resultBytes, (event) =>
    dispatch(
      event.type === "answer" ? { ...event, outcome: explain(event.outcome, host.explainNetwork) } : event,
    ),
  );
}

/** The frames that start an execution in a child: inputs are passed on as received, without a copy. */
function encodeRequest(request: RunRequest, resultBytes: number, linger: boolean): readonly Uint8Array[] {
  const { body, data, params } = request.input;
  const memory = Math.round(request.version.resources.memory * GIGABYTE);
  const { executionId } = request;
  const options = Buffer.from(JSON.stringify({ executionId, resultBytes, memory, linger }));
  const inputs = [
    [FRAME.body, body],
    [FRAME.data, data],
    [FRAME.params, params],
  ] as const;
  const frames = inputs.flatMap(([type, payload]) =>
    payload === undefined ? [] : [encodeHeader(type, payload.byteLength), payload],
  );
  return [encodeFrame(FRAME.request, options), ...frames, encodeFrame(FRAME.start)];
}

/** The errors of a sandbox without a network are those of a network that is down. */
function explain(outcome: Outcome, explainNetwork: ExecutionHost["explainNetwork"]): Outcome {
  if (outcome.status !== "FAILED" || outcome.code !== "CONNECTION_ERROR") return outcome;
  const reason = explainNetwork();
  return reason === null
    ? outcome
    : { ...outcome, detail: `${outcome.detail.replace(/\.$/, "")}. ${reason}` };
}
