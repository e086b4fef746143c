import { constants } from "node:os";
import { FRAME, createFrameDecoder } from "../wire/frames.ts";
import type { Connection } from "../wire/connection.ts";
import { CHUNK_COST } from "../wire/pace.ts";
import type { Taken } from "../wire/paced-reader.ts";
import type { ExitEvent } from "../wire/control-messages.ts";
import type { DecodeStep, Frame } from "../wire/frames.ts";
import { readCause } from "../wire/untrusted-text.ts";
import type { NotStarted, Outcome } from "../port/runtime.ts";
import { MAX_METADATA_BYTES, isObjectText, readMetadata } from "./answer-texts.ts";

/** An outcome that is known to be a failure. */
export type Failed = Extract<Outcome, { readonly status: "FAILED" }>;

const MAX_FAILURE_BYTES = 256 * 1024;
/** Bytes of an answer, which is only copied, that cost one unit of `Pace`. */
const ANSWER_BYTES = 64;
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

/** Largest payload of each frame that a child may send, in bytes; -1 for all others, so that not even an empty one is accepted. */
function limitFrames(resultBytes: number): (type: number) => number {
  return (type) => {
    if (type === FRAME.result) return resultBytes;
    if (type === FRAME.metadata) return MAX_METADATA_BYTES;
    return type === FRAME.failure ? MAX_FAILURE_BYTES : -1;
  };
}

/** Reads a child's answer frame by frame. It comes from a process that runs user code, so everything in it is checked. */
function createAnswerReader(resultBytes: number): (step: NonNullable<DecodeStep>) => Outcome | null {
  let metadata: Uint8Array | null = null;

  function readFrame({ type, payload }: Frame): Outcome | null {
    if (type === FRAME.failure) return readFailure(payload);
    // Results may be large and are not parsed: a forged one affects only the callers of that service.
    if (type === FRAME.result)
      return isObjectText(payload) ? { status: "SUCCEEDED", result: payload, metadata } : BROKEN_PROTOCOL;
    if (metadata !== null) return BROKEN_PROTOCOL;
    metadata = readMetadata(payload);
    return metadata === null ? BROKEN_PROTOCOL : null;
  }

  return (step) => {
    if ("frame" in step) return readFrame(step.frame);
    if (step.refused.type !== FRAME.result) return BROKEN_PROTOCOL;
    return fail(
      "RESULT_TOO_LARGE",
      `The result has ${step.refused.size} bytes of JSON text, the limit is ${resultBytes} bytes.`,
    );
  };
}

/** Events of a child's control connection. */
export type AnswerEvent =
  /** The child answered, or broke the protocol. */
  { readonly type: "answer"; readonly outcome: Outcome } | { readonly type: "controlClosed" };

/** Reads a child's control connection; the listener destroys it after the first answer. */
export function listenForAnswer(
  connection: Connection,
  resultBytes: number,
  onEvent: (event: AnswerEvent) => void,
): void {
  const decoder = createFrameDecoder(limitFrames(resultBytes));
  const read = createAnswerReader(resultBytes);
  function readAnswer(chunk: Buffer): Taken {
    decoder.push(chunk);
    let parsed = 0;
    for (let step = decoder.next(); step !== null; step = decoder.next()) {
      if ("frame" in step && step.frame.type !== FRAME.result) parsed += step.frame.payload.length;
      const outcome = read(step);
      if (outcome === null) continue;
      onEvent({ type: "answer", outcome });
      break;
    }
    return { cost: CHUNK_COST + chunk.length / ANSWER_BYTES + parsed, rest: null };
  }
  connection.attach(readAnswer, () => onEvent({ type: "controlClosed" }));
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
const CODES_OF_PLATFORM: ReadonlySet<string> = new Set(["NOT_STARTED", "WORKER_LOST"]);

const BROKEN_PROTOCOL = fail(
  "EXECUTION_ERROR",
  "The code wrote to the runtime's own connection instead of returning from run.",
);

function readFailure(payload: Buffer): Outcome {
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
