import type { DecodeStep, Frame } from "../wire/frames.ts";
import { FRAME } from "../wire/frames.ts";
import type { RunOutput } from "../port/runtime.ts";
import { isObjectText } from "./answer-texts.ts";
import { readOmitted, receiveFiles } from "./received-files.ts";
import type { OmittedFile, ReceivedFiles, ReceivedFilesOptions } from "./received-files.ts";
import { receiveResult } from "./received-result.ts";
import type { ReceivedResult } from "./received-result.ts";

/** A result of which all has come and is in files, or is text. */
export interface CompleteOutput {
  /** Empty where the result is in `output`. */
  readonly text: Uint8Array;
  readonly output: RunOutput;
  readonly omitted: readonly OmittedFile[];
}

/** `untaken`: it is nothing that goes into files. `broken`: the runner did not write it. A text: what is too much, as a sentence. */
type TakenStep = "untaken" | "taken" | "broken" | { readonly excess: string } | Promise<CompleteOutput>;

/** What of an answer goes into files. */
export interface ReceivedOutput {
  readonly take: (step: NonNullable<DecodeStep>) => TakenStep;
  readonly isBehind: () => boolean;
  /** Whether all of the answer has come: it is being stored. */
  readonly isWhole: () => boolean;
  readonly abandon: () => void;
}

/** How it is received. */
interface ReceivedOutputOptions extends ReceivedFilesOptions {
  /** The first of it has come. */
  readonly onBegun: () => void;
}

const NO_BYTES = new Uint8Array();

/** What has come. */
interface Parts {
  files: ReceivedFiles | null;
  large: ReceivedResult | null;
  /** What the runner has left out; null: it has not said. */
  left: readonly OmittedFile[] | null;
  isEnded: boolean;
}

/** Nothing is stored before something comes. */
export function receiveOutput(options: ReceivedOutputOptions): ReceivedOutput {
  const { results, onBegun, onDrained } = options;
  const parts: Parts = { files: null, large: null, left: null, isEnded: false };
  return {
    take: (step) => {
      if ("frame" in step) return takeFrame(parts, options, step.frame);
      if ("begun" in step) {
        const large = receiveResult(results, step.begun.size, onDrained);
        parts.large = large;
        onBegun();
        return complete(parts, NO_BYTES, large.received);
      }
      if (!("part" in step)) return "untaken";
      parts.large?.push(step.part, step.isLast);
      return "taken";
    },
    isBehind: () => parts.large?.isBehind() === true || parts.files?.isBehind() === true,
    isWhole: () => parts.isEnded || parts.large?.isWhole() === true,
    abandon: () => {
      parts.large?.abandon();
      parts.files?.abandon();
    },
  };
}

function takeFrame(parts: Parts, options: ReceivedOutputOptions, { type, payload }: Frame): TakenStep {
  switch (type) {
    case FRAME.file:
      return describe(open(parts, options).begin(payload, "files"));
    case FRAME.poolFile:
      return describe(open(parts, options).begin(payload, "poolFiles"));
    case FRAME.content:
      return parts.files === null ? "broken" : describe(parts.files.push(payload));
    case FRAME.omitted:
      if (parts.left !== null) return "broken";
      // Of OUTPUT_DIRECTORY, and of the output pool.
      parts.left = readOmitted(payload, 2 * options.files.count);
      return parts.left === null ? "broken" : "taken";
    case FRAME.result:
      return takeResult(parts, payload);
    default:
      return "untaken";
  }
}

function open(parts: Parts, options: ReceivedOutputOptions): ReceivedFiles {
  if (parts.files !== null) return parts.files;
  options.onBegun();
  parts.files = receiveFiles(options);
  return parts.files;
}

function takeResult(parts: Parts, payload: Buffer): TakenStep {
  if (parts.files === null && parts.left === null) return "untaken";
  parts.isEnded = true;
  return isObjectText(payload) ? complete(parts, payload, Promise.resolve(null)) : "broken";
}

async function complete(
  { files, left }: Parts,
  text: Uint8Array,
  result: Promise<RunOutput["result"]>,
): Promise<CompleteOutput> {
  const [content, received] = await Promise.all([result, files?.finish() ?? { files: [] }]);
  const omitted = [...(files?.listOmitted() ?? []), ...(left ?? [])];
  return { text, output: { result: content, ...received }, omitted };
}

function describe(excess: string | null): TakenStep {
  return excess === null ? "taken" : { excess };
}
