import { constants } from "node:os";
import { MEGABYTE } from "../../base/bytes.ts";
import { FRAME, createFrameDecoder } from "../wire/frames.ts";
import type { Connection } from "../wire/connection.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createTimers } from "../../base/timers.ts";
import { CHUNK_COST } from "../wire/pace.ts";
import type { Taken } from "../wire/paced-reader.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { DecodeStep, Frame } from "../wire/frames.ts";
import { readCause } from "../wire/untrusted-text.ts";
import { OMITTED, addMetadata, listContents } from "../port/run-output.ts";
import type { NotStarted, Outcome } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { ContentNotStored } from "../../content/result-store.ts";
import { MAX_METADATA_BYTES, isObjectText, readMetadata } from "./answer-texts.ts";
import { MAX_CHECKPOINT_BYTES, MAX_PROGRESS_BYTES, isReport } from "./progress-frames.ts";
import { createProgressReader } from "./progress-reader.ts";
import { MAX_HANDLE_BYTES } from "./handle-writer.ts";
import type { HandleWriter } from "./handle-writer.ts";
import type { ProgressWriter } from "./progress-writer.ts";
import { receiveOutput } from "./received-output.ts";
import type { CompleteOutput, ReceivedOutput } from "./received-output.ts";
import { NoObject } from "./received-result.ts";

/** An outcome that is known to be a failure. */
export type Failed = Extract<Outcome, { readonly status: "FAILED" }>;

const MAX_FAILURE_BYTES = 256 * 1024;
/** Bytes of an answer, which is only copied, that cost one unit of `Pace`. */
const ANSWER_BYTES = 64;
const MAX_PIECE_BYTES = MEGABYTE;
const MAX_NAME_BYTES = 4096;
const MAX_OMITTED_BYTES = 256 * 1024;
const SIGKILL = 9;
const SIGSEGV = 11;

const SIGNAL_NAMES: ReadonlyMap<number, string> = nameSignals();

/** Aliases (SIGIOT, SIGPOLL) are later in the table, so the first name is used. */
function nameSignals(): Map<number, string> {
  const names = new Map<number, string>();
  for (const [name, number] of Object.entries(constants.signals)) {
    if (!names.has(number)) names.set(number, name);
  }
  return names;
}

/** Of frames that each child may send. */
const FIXED_LIMITS: ReadonlyArray<readonly [type: number, bytes: number]> = [
  [FRAME.metadata, MAX_METADATA_BYTES],
  [FRAME.content, MAX_PIECE_BYTES],
  [FRAME.file, MAX_NAME_BYTES],
  [FRAME.omitted, MAX_OMITTED_BYTES],
  [FRAME.progress, MAX_PROGRESS_BYTES],
  [FRAME.checkpoint, MAX_CHECKPOINT_BYTES],
  [FRAME.failure, MAX_FAILURE_BYTES],
];

/** Largest payload of each frame that a child may send, in bytes; -1 for all others, so that not even an empty one is accepted. */
function limitFrames({
  resultBytes,
  hasOutputPool,
  handles,
}: Pick<AnswerOptions, "resultBytes" | "hasOutputPool" | "handles">): (type: number) => number {
  const limits = new Map<number, number>([
    ...FIXED_LIMITS,
    [FRAME.result, resultBytes],
    ...(hasOutputPool ? [[FRAME.poolFile, MAX_NAME_BYTES] as const] : []),
    ...(handles === null ? [] : [[FRAME.handle, MAX_HANDLE_BYTES] as const]),
  ]);
  return (type) => limits.get(type) ?? -1;
}

/** Reads a child's answer frame by frame. It comes from a process that runs user code, so everything in it is checked. */
function createAnswerReader(resultBytes: number, handles: AnswerOptions["handles"]) {
  let metadata: Uint8Array | null = null;

  function readFrame({ type, payload }: Frame): Outcome | null {
    if (type === FRAME.handle) return handles?.take(payload) === true ? null : BROKEN_PROTOCOL;
    if (type === FRAME.failure) return readFailure(payload, handles?.mayBeUnknown === true);
    // Results may be large and are not parsed: a forged one affects only the callers of that service.
    if (type === FRAME.result)
      return isObjectText(payload) ? { status: "SUCCEEDED", result: payload, metadata } : BROKEN_PROTOCOL;
    if (metadata !== null) return BROKEN_PROTOCOL;
    metadata = readMetadata(payload);
    return metadata === null ? BROKEN_PROTOCOL : null;
  }

  return {
    readFrame,
    refuse: ({ type, size }: { readonly type: number; readonly size: number }): Failed =>
      type === FRAME.result
        ? fail(
            "RESULT_TOO_LARGE",
            `The result has ${size} bytes of JSON text, the limit is ${resultBytes} bytes.`,
          )
        : BROKEN_PROTOCOL,
    complete: ({ text, output, omitted }: CompleteOutput): Outcome => ({
      status: "SUCCEEDED",
      result: text,
      metadata: omitted.length === 0 ? metadata : addMetadata(metadata, { [OMITTED]: omitted }),
      ...(listContents(output).length === 0 ? {} : { output }),
    }),
  };
}

/** Events of a child's control connection. */
export type AnswerEvent =
  /** The child answered, or broke the protocol. */
  | { readonly type: "answer"; readonly outcome: Outcome }
  /** A large answer has begun to arrive. */
  | { readonly type: "receiving" }
  | { readonly type: "controlClosed" };

/** How a child's answer is received. */
export interface AnswerOptions extends Pick<
  Settings,
  "resultBytes" | "inlineBytes" | "results" | "files" | "explainPoolName"
> {
  readonly onEvent: (event: AnswerEvent) => void;
  /** Whether the execution may leave files for a data pool. */
  readonly hasOutputPool: boolean;
  /** Gets what it reports ahead of its answer. */
  readonly progress: Pick<ProgressWriter, "note">;
  /** Gets the handles of an external backend; null: it is none. */
  readonly handles: Pick<HandleWriter, "take" | "mayBeUnknown"> | null;
}

/** The control connection of a child, while it is read. */
export interface AnswerReader {
  /**
   * Nothing of an answer counts from now on. What was received of one without having been told of is dropped. Where there was none, since the
   * child was killed, what it has reported until then is still read, for at most so long; settles when that is done. Closes the connection.
   */
  readonly close: (withinMs: number) => Promise<void>;
}

/** `open`: an answer is awaited. `rest`: only what was reported before the end still counts. `over`: nothing is read. */
type ReaderState = "open" | "rest" | "over";

const NO_BYTES = Buffer.alloc(0);

/** Reads a child's control connection; the listener calls `close` after the first answer: nothing comes after that. */
export function listenForAnswer(connection: Connection, options: AnswerOptions): AnswerReader {
  const progress = createProgressReader(options.progress, connection.wake);
  const rest = createDeferred<undefined>();
  const timers = createTimers<"rest">();
  let state: ReaderState = "open";
  let isClosed = false;

  function answer(outcome: Outcome): void {
    if (state !== "open") return;
    state = "over";
    if (outcome.status !== "SUCCEEDED") output?.abandon();
    options.onEvent({ type: "answer", outcome });
  }

  const output = openOutput(options, connection.wake);
  const takeAnswer = createAnswerTaker(options, output, answer);

  function take(step: NonNullable<DecodeStep>): number {
    if ("frame" in step && isReport(step.frame.type)) return progress.take(step.frame);
    if (state === "open") return takeAnswer(step);
    end();
    return 0;
  }

  function end(): void {
    state = "over";
    timers.clear("rest");
    connection.destroy();
    rest.resolve(undefined);
  }

  const isWhole = (): boolean => output?.isWhole() === true;

  const read = createStepReader(options, {
    take,
    isBehind: () => output?.isBehind() === true || progress.isHeld(),
    isDone: () => state === "over" || isWhole(),
  });
  connection.attach(read, () => {
    isClosed = true;
    if (state === "rest") return end();
    // All of it has come: that it is stored is still to be told.
    if (!isWhole() && state === "open") options.onEvent({ type: "controlClosed" });
  });
  return {
    close: (withinMs) => {
      const hasRest = state === "open" && !isWhole() && !isClosed;
      // The outcome has what was told of.
      if (state === "open") output?.abandon();
      state = "rest";
      progress.release();
      // After a look at what has come: this thread may have been busy for so long.
      if (hasRest) timers.set("rest", withinMs, () => setImmediate(end));
      else end();
      connection.wake();
      return rest.promise;
    },
  };
}

/** Takes the steps that are an answer; returns what they have cost, in units of `Pace`. */
function createAnswerTaker(
  { resultBytes, handles }: AnswerOptions,
  output: ReceivedOutput | null,
  answer: (outcome: Outcome) => void,
): (step: NonNullable<DecodeStep>) => number {
  const reader = createAnswerReader(resultBytes, handles);
  return (step) => {
    const taken = output?.take(step) ?? "untaken";
    if (taken instanceof Promise) void taken.then(reader.complete).catch(explainLoss).then(answer);
    else if (taken !== "untaken" && taken !== "taken") answer(explainFault(taken));
    if (taken !== "untaken") return 0;
    if ("refused" in step) answer(reader.refuse(step.refused));
    if (!("frame" in step)) return 0;
    const outcome = reader.readFrame(step.frame);
    if (outcome !== null) answer(outcome);
    return step.frame.type === FRAME.result ? 0 : step.frame.payload.length;
  };
}

interface StepTaker {
  readonly take: (step: NonNullable<DecodeStep>) => number;
  /** Whether nothing is to be read at present: it wakes the connection. */
  readonly isBehind: () => boolean;
  /** Whether the last that is read was read. */
  readonly isDone: () => boolean;
}

/** Splits chunks into steps, and passes them on for as long as they are taken. */
function createStepReader(options: AnswerOptions, taker: StepTaker): (chunk: Buffer) => Taken {
  const { inlineBytes, results } = options;
  const isLarge = (type: number, size: number) =>
    results !== null && type === FRAME.result && size > inlineBytes;
  const decoder = createFrameDecoder(limitFrames(options), isLarge);
  return (chunk) => {
    if (taker.isBehind()) return { cost: 0, rest: chunk };
    if (taker.isDone()) return { cost: CHUNK_COST, rest: null };
    decoder.push(chunk);
    let parsed = 0;
    while (!taker.isDone() && !taker.isBehind()) {
      const step = decoder.next();
      if (step === null) break;
      parsed += taker.take(step);
    }
    // The decoder has what is left of a chunk: it is asked again when more may be read.
    const left = !taker.isDone() && taker.isBehind() ? NO_BYTES : null;
    return { cost: CHUNK_COST + chunk.length / ANSWER_BYTES + parsed, rest: left };
  };
}

/** Null: nothing of an answer goes into files. */
function openOutput(
  { results, files, explainPoolName, onEvent }: AnswerOptions,
  onDrained: () => void,
): ReceivedOutput | null {
  if (results === null) return null;
  const onBegun = () => onEvent({ type: "receiving" });
  return receiveOutput({ results, files, explainPoolName, onBegun, onDrained });
}

function explainFault(fault: "broken" | { readonly excess: string }): Failed {
  return fault === "broken" ? BROKEN_PROTOCOL : fail("RESULT_TOO_LARGE", fault.excess);
}

function explainLoss(error: unknown): Failed {
  if (error instanceof NoObject) return BROKEN_PROTOCOL;
  const reason = error instanceof ContentNotStored ? ` ${error.message}` : "";
  return fail("RESULT_NOT_STORED", `The result could not be stored.${reason}`);
}

/** An outcome FAILED. `code`: one of the platform's or of the service's own; `detail`: shown to the caller. */
export function fail(code: string, detail: string): Failed {
  return { status: "FAILED", code, detail };
}

/** The project cannot be started on any worker. */
export function failStart(detail: string): Failed {
  return fail("STARTUP_ERROR", detail);
}

/** The project is not the cause, and no request was written to any process. */
export function notStarted(scope: NotStarted["scope"], detail: string): NotStarted {
  return { status: "NOT_STARTED", scope, detail };
}

/** What they say frees the execution's part of a quota: only the platform knows it. */
const CODES_OF_PLATFORM: ReadonlySet<string> = new Set([
  "NOT_STARTED",
  "START_DEADLINE_EXCEEDED",
  "WORKER_LOST",
]);

const BROKEN_PROTOCOL = fail(
  "EXECUTION_ERROR",
  "The code wrote to the runtime's own connection instead of returning from run.",
);

function readFailure(payload: Buffer, mayBeUnknown: boolean): Outcome {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString("utf8"));
  } catch {
    return BROKEN_PROTOCOL;
  }
  if (typeof value !== "object" || value === null || !("code" in value) || !("detail" in value))
    return BROKEN_PROTOCOL;
  if (typeof value.code !== "string" || value.code === "" || typeof value.detail !== "string")
    return BROKEN_PROTOCOL;
  if (mayBeUnknown && value.code === "WORKER_LOST")
    return {
      ...readCause({ code: value.code, detail: value.detail }),
      status: "UNKNOWN",
      code: value.code,
      isFinal: true,
    };
  const code = CODES_OF_PLATFORM.has(value.code) ? "EXECUTION_ERROR" : value.code;
  return { status: "FAILED", ...readCause({ code, detail: value.detail }) };
}

/** How a process ended, as a clause: "ended with exit code 3". */
export function describeExit(exit: Pick<ExitEvent, "code" | "signal">): string {
  if (exit.signal === null) return `ended with exit code ${exit.code ?? "unknown"}`;
  const name = SIGNAL_NAMES.get(exit.signal) ?? `signal ${exit.signal}`;
  if (exit.signal === SIGKILL) return `was killed by ${name}, possibly because it ran out of memory`;
  // abort(3) raises SIGABRT, which has no effect on pid 1 of a namespace, and then crashes.
  if (exit.signal === SIGSEGV) return `was ended by ${name} (native code crashed or called abort)`;
  return `was ended by ${name}`;
}
