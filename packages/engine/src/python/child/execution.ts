import { createAnswerReader, describeExit, fail, limitFrames } from "./answers.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import { createDeferred } from "../../base/deferred.ts";
import { FRAME, createFrameDecoder, encodeFrame, encodeHeader } from "../wire/frames.ts";
import type { Connections } from "../wire/home-socket.ts";
import type { Connection } from "../wire/connection.ts";
import { createJournal } from "./journal.ts";
import { CHUNK_COST } from "../wire/pace.ts";
import type { Taken } from "../wire/paced-reader.ts";
import type { LogLine, NotStarted, Outcome, Run, RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { createTimers } from "../../base/timers.ts";

const SIGTERM = 15;
const SIGKILL = 9;
const SECOND = 1000;

/** Of an answer, which is only copied, so many bytes cost one unit of `Pace`. */
const ANSWER_BYTES = 64;

/** What an execution needs from the pool that runs it. */
export interface ExecutionHost {
  /** Sends a signal to the whole execution through its zygote; SIGKILL ends every process of it. */
  readonly signal: (signal: 9 | 15) => void;
  /** The answer is known (the process may still live). */
  readonly onAnswered: () => void;
  /** The processes do not go: only the end of the whole sandbox is sure. */
  readonly onStuck: () => void;
}

/**
 * One run, from the queue to the end of its processes.
 *
 * queued -> running (handed over to a child) -> answered (outcome decided, logs drain) -> gone (no process left).
 * `outcome` settles when answered and drained, `ended` when gone. Each step happens at most once; what comes later is ignored.
 */
export interface Execution {
  readonly run: Run;
  readonly request: RunRequest;
  readonly handOver: (connections: Connections, host: ExecutionHost) => void;
  /** Ends an execution that was never handed over. */
  readonly refuse: (outcome: Outcome | NotStarted, lines?: readonly LogLine[]) => void;
  readonly onExit: (exit: ExitEvent) => void;
  readonly onGone: () => void;
  /** The sandbox is gone with all its processes. */
  readonly onLost: (detail: string) => void;
}

type KillReason = Parameters<Run["kill"]>[0];

/** @param onRefused called when a kill ends the execution before it was handed over: it must leave the queue. */
export function createExecution(request: RunRequest, settings: Settings, onRefused: () => void): Execution {
  const outcome = createDeferred<Outcome | NotStarted>();
  const began = createDeferred<boolean>();
  const ended = createDeferred<undefined>();
  const timers = createTimers<"limit" | "ladder" | "answer">();
  const journal = createJournal(settings, request.onLog);
  let state: "queued" | "running" | "answered" | "gone" = "queued";
  let host: ExecutionHost | null = null;
  let control: Connection | null = null;
  let controlClosed = false;
  let reason: KillReason | null = null;
  let exit: ExitEvent | null = null;
  let lost: string | null = null;
  let answer: Outcome | NotStarted | null = null;

  function settle(given: Outcome | NotStarted): void {
    answer = given;
    void journal.drain().then(() => outcome.resolve(given));
  }

  function decide(decided: Outcome): void {
    if (answer !== null) return;
    control?.destroy(); // what follows the answer is read by nobody, however much it is
    settle(reason === null ? decided : fail(reason.code, reason.detail));
    if (state === "running") state = "answered";
    timers.clear("limit");
    timers.clear("answer");
    if (state === "answered" && !timers.has("ladder")) timers.set("ladder", settings.exitMs, killHard);
    host?.onAnswered();
  }

  /** Without an answer on the control connection, the end of the process has to say how it went. */
  function conclude(): void {
    if (answer !== null) return;
    if (lost !== null) return decide({ status: "UNKNOWN", code: "WORKER_LOST", detail: lost });
    if (exit !== null)
      return decide(fail("EXECUTION_ERROR", `The process ${describeExit(exit)} before run returned`));
    decide(fail("EXECUTION_ERROR", "The code closed the runtime's own connection before run returned"));
    killHard();
  }

  function awaitAnswer(): void {
    if (answer !== null) return;
    if (reason !== null || controlClosed) conclude();
    else timers.set("answer", SECOND, conclude);
  }

  function killHard(): void {
    if (state === "gone") return;
    host?.signal(SIGKILL);
    timers.set("ladder", settings.confirmMs, () => host?.onStuck());
  }

  function kill(given: KillReason): void {
    if (answer !== null || reason !== null) return;
    if (state === "queued") {
      refuse(fail(given.code, given.detail));
      onRefused();
      return;
    }
    reason = given;
    timers.clear("limit");
    if (given.code === "TIMEOUT") return killHard();
    host?.signal(SIGTERM);
    timers.set("ladder", settings.graceMs, killHard);
  }

  function refuse(refused: Outcome | NotStarted, lines: readonly LogLine[] = []): void {
    if (state !== "queued") return;
    state = "gone";
    began.resolve(false);
    journal.write(lines);
    settle(refused);
    ended.resolve(undefined);
  }

  function listenForAnswer(connection: Connection): void {
    const decoder = createFrameDecoder(limitFrames(settings.resultBytes));
    const read = createAnswerReader(settings.resultBytes);
    function readAnswer(chunk: Buffer): Taken {
      decoder.push(chunk);
      for (let step = decoder.next(); step !== null; step = decoder.next()) {
        const decided = read(step);
        if (decided === null) continue;
        decide(decided);
        break;
      }
      return { cost: CHUNK_COST + chunk.length / ANSWER_BYTES, rest: null };
    }
    control = connection;
    connection.attach(readAnswer, () => {
      controlClosed = true;
      if (exit !== null || lost !== null) conclude();
      else if (answer === null) timers.set("answer", SECOND, conclude);
    });
  }

  function handOver(connections: Connections, given: ExecutionHost): void {
    state = "running";
    began.resolve(true);
    host = given;
    timers.set("limit", request.timeoutSeconds * SECOND, () =>
      kill({
        code: "TIMEOUT",
        detail: `The execution exceeded its time limit of ${request.timeoutSeconds} s`,
      }),
    );
    connections.control.write(encodeRequest(request, settings.resultBytes));
    journal.read(connections.stdout, connections.stderr);
    listenForAnswer(connections.control);
  }

  function finish(): void {
    if (state === "gone") return;
    state = "gone";
    timers.clear("ladder");
    ended.resolve(undefined);
  }

  return {
    run: { began: began.promise, outcome: outcome.promise, ended: ended.promise, kill },
    request,
    handOver,
    refuse,
    onExit: (event) => {
      exit = event;
      awaitAnswer();
    },
    onGone: finish,
    onLost: (detail) => {
      lost = detail;
      awaitAnswer();
      finish();
    },
  };
}

function encodeRequest(request: RunRequest, resultBytes: number): readonly Uint8Array[] {
  const { body, data, params } = request.input;
  const memory = Math.round(request.version.resources.memory * 1024 ** 3);
  const options = Buffer.from(JSON.stringify({ executionId: request.executionId, resultBytes, memory }));
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
