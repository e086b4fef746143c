import { SECOND } from "../../base/time.ts";
import { listenForAnswer, notStarted } from "./answers.ts";
import type { AnswerReader } from "./answers.ts";
import { createDeferred } from "../../base/deferred.ts";
import { runMachine } from "../../base/machine.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { Connections } from "../wire/home-socket.ts";
import { FRAME, encodeFrame } from "../wire/frames.ts";
import { createHandleWriter } from "./handle-writer.ts";
import type { HandleWriter } from "./handle-writer.ts";
import { createJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import { createProgressWriter } from "./progress-writer.ts";
import type { ProgressWriter } from "./progress-writer.ts";
import { QUEUED, reduce } from "./run-machine.ts";
import type { ChildAction, RunEffect, RunEvent, RunState, Timer } from "./run-state.ts";
import { dropOutput, getOutput } from "../port/run-output.ts";
import type { LogLine, NotStarted, Outcome, Run, RunOutput, RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { createMeter, nameInputs } from "./usage.ts";
import { getMessage } from "../../base/thrown.ts";
import { bringIn, encodeRequest } from "./encode-request.ts";
import type { InputPlace } from "./encode-request.ts";
import type { Meter, Usage } from "./usage.ts";
import { createTimers } from "../../base/timers.ts";

const SIGTERM = 15;
const SIGKILL = 9;

/** The parts of the pool that an execution uses. */
interface ExecutionHost {
  /** Sends a signal to the whole execution through its zygote; SIGKILL ends every process of it. */
  readonly signal: (signal: 9 | 15) => void;
  /** What keeps the execution from other hosts, as a sentence; null: nothing but the network itself. */
  readonly explainNetwork: () => string | null;
  /** What the execution has used until now; null: it is not measured, or its processes are gone. */
  readonly measure: () => Usage | null;
  /** Where files go that the child shall open; null: there is no such place. */
  readonly inputs: InputPlace | null;
  /** The door of its sandbox, as the child names it; null: there is none. */
  readonly door: string | null;
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
  const writers = createWriters(request, settings);
  const { state, dispatch } = runMachine(QUEUED, reduce, perform);
  let performOnChild: ((action: ChildAction) => void) | null = null;
  const meter = createMeter(request.version.resources);
  const received: RunOutput[] = [];

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
        return writers.journal.write(effect.lines);
      case "drainLog":
        return void drain(writers, state()).then(() => dispatch({ type: "drained" }));
      case "settle":
        return outcome.resolve(conclude(effect.outcome, { request, meter, received }));
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
      const asked = composeRequest(request, settings, host);
      if ("refused" in asked) return turnAway(connections, asked.refused, dispatch);
      const parts = { connections, host, ...writers, ...asked, settings, meter };
      performOnChild = attendChild({ ...parts, dispatch: noteOutput(received, dispatch) });
      dispatch({ type: "handedOver" });
    },
    refuse: (refused, lines = []) => dispatch({ type: "refused", outcome: refused, lines }),
    checkMemory: () => checkMemory(meter, dispatch),
    onExit: (exit) => hearExit(meter, exit, dispatch),
    onGone: () => dispatch({ type: "gone" }),
    onLost: (detail) => dispatch({ type: "lost", detail }),
  };
}

type Dispatch = (event: RunEvent) => void;

/** What a run leaves while it goes on. */
interface Writers {
  readonly journal: Journal;
  readonly progress: ProgressWriter;
  /** Null: of no external backend. */
  readonly handles: HandleWriter | null;
}

function createWriters({ onLog, onProgress, external }: RunRequest, settings: Settings): Writers {
  return {
    journal: createJournal(settings, onLog),
    progress: createProgressWriter(onProgress),
    handles: external === undefined ? null : createHandleWriter(external),
  };
}

async function drain({ journal, progress, handles }: Writers, state: RunState): Promise<void> {
  const hasResult = state.name === "answered" && state.outcome.status === "SUCCEEDED";
  await Promise.all([journal.drain(), progress.drain(hasResult), handles?.drain()]);
}

/** Adds what was received with answers to `received`. */
function noteOutput(received: RunOutput[], dispatch: Dispatch): Dispatch {
  return (event) => {
    const output = event.type === "answer" ? getOutput(event.outcome) : undefined;
    if (output !== undefined) received.push(output);
    dispatch(event);
  };
}

/** With all that is known of the run. What was received and is not part of the outcome is dropped: the run was killed meanwhile. */
function conclude(
  decided: Outcome | NotStarted,
  { request, meter, received }: Concluding,
): Outcome | NotStarted {
  const outcome = nameInputs(meter.apply(decided), request.input.referred?.pins);
  for (const output of received) if (output !== getOutput(outcome)) dropOutput(output);
  return outcome;
}

interface Concluding {
  readonly request: RunRequest;
  readonly meter: Meter;
  readonly received: readonly RunOutput[];
}

/** The request as the child reads it, with its files where the child finds them; or why they cannot be there. */
function composeRequest(request: RunRequest, settings: Settings, host: ExecutionHost) {
  try {
    const inputs = bringIn(request.input.referred, host.inputs);
    const { resultBytes, results, files } = settings;
    const limits = results === null ? undefined : files;
    return {
      frames: encodeRequest(request, {
        resultBytes,
        linger: host.needsLive,
        inputs,
        files: limits,
        door: host.door,
      }),
      hasOutputPool: request.outputPool !== undefined,
    };
  } catch (error) {
    return {
      refused: notStarted("worker", `The input could not be brought to its process: ${getMessage(error)}`),
    };
  }
}

/** The child ends when its connections close: nothing was asked of it. */
function turnAway({ control, stdout, stderr }: Connections, outcome: NotStarted, dispatch: Dispatch): void {
  for (const connection of [control, stdout, stderr]) connection.destroy();
  dispatch({ type: "refused", outcome, lines: [] });
}

/** The answer may be read only when the processes are gone, and with them what is measured. */
function hearExit(meter: Meter, { code, signal }: ExitEvent, dispatch: Dispatch): void {
  meter.look(); // not `take`: code at import may have said it
  dispatch({ type: "exit", exit: { code, signal } });
}

function checkMemory(meter: Meter, dispatch: Dispatch): void {
  const detail = meter.findExcess();
  if (detail !== null) dispatch({ type: "kill", reason: { code: "OUT_OF_MEMORY", detail } });
}

/** In milliseconds. */
function listDurations(request: RunRequest, settings: Settings): Readonly<Record<Timer, number>> {
  return {
    limit: request.timeoutSeconds * SECOND,
    answer: settings.answerMs,
    exit: settings.exitMs,
    grace: request.version.isExternal === true ? settings.externalGraceMs : settings.graceMs,
    confirm: settings.confirmMs,
  };
}

function expire(timer: Timer, { timeoutSeconds, version }: RunRequest): RunEvent {
  if (timer !== "limit") return { type: "timeUp", timer };
  const detail = `The execution exceeded its time limit of ${timeoutSeconds} s.`;
  const isAsked = version.isExternal === true;
  return { type: "kill", reason: { code: "TIMEOUT", detail, ...(isAsked ? { isAsked } : {}) } };
}

interface ChildOptions extends Writers {
  readonly connections: Connections;
  readonly host: ExecutionHost;
  /** The request as the child reads it. */
  readonly frames: readonly Uint8Array[];
  readonly hasOutputPool: boolean;
  readonly settings: Settings;
  readonly meter: Meter;
  readonly dispatch: Dispatch;
}

function attendChild(options: ChildOptions): (action: ChildAction) => void {
  const { connections, host, meter, progress, settings } = options;
  meter.attach(host.measure);
  let answers: AnswerReader | null = null;
  return (action) => {
    switch (action) {
      case "serve":
        answers = serve(options);
        return undefined;
      case "closeControl":
        meter.take(); // a process that was asked to linger ends then
        return answers === null
          ? connections.control.destroy()
          : progress.await(answers.close(settings.drainMs));
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

function serve(options: ChildOptions): AnswerReader {
  const { connections, host, journal, progress, handles, frames, hasOutputPool, settings, dispatch } =
    options;
  handles?.attach(() => connections.control.write([encodeFrame(FRAME.kept)]));
  connections.control.write(frames);
  journal.read(connections.stdout, connections.stderr);
  return listenForAnswer(connections.control, {
    ...settings,
    hasOutputPool,
    progress,
    handles,
    onEvent: (event) =>
      dispatch(
        event.type === "answer" ? { ...event, outcome: explain(event.outcome, host.explainNetwork) } : event,
      ),
  });
}

/** The errors of a sandbox without a network are those of a network that is down. */
function explain(outcome: Outcome, explainNetwork: ExecutionHost["explainNetwork"]): Outcome {
  if (outcome.status !== "FAILED" || outcome.code !== "CONNECTION_ERROR") return outcome;
  const reason = explainNetwork();
  return reason === null
    ? outcome
    : { ...outcome, detail: `${outcome.detail.replace(/\.$/, "")}. ${reason}` };
}
