import { resolve } from "node:path";
import type { RawJson } from "@platform/contract/client";
import { isRecord } from "@platform/engine/base/json";
import { getMessage } from "@platform/engine/base/thrown";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { readIfThere } from "../base/files.ts";
import { parseStartWithin } from "../base/duration.ts";

/** Options of `run` for the input; undefined if not given. */
export interface JobInputOptions {
  /** JSON text. */
  readonly data: string | undefined;
  /** JSON text. */
  readonly params: string | undefined;
  /** Path, relative to the working directory. */
  readonly dataFile: string | undefined;
  /** Path, relative to the working directory. */
  readonly paramsFile: string | undefined;
  /** A time; the platform says which forms it may have. */
  readonly startAt?: string | undefined;
  /** A URL that is told what becomes of it. */
  readonly webhook?: string | undefined;
  /** A duration, see `parseDuration`. */
  readonly startWithin?: string | undefined;
}

/**
 * Builds the body of start from options and files. The JSON texts are sent unchanged, so that numbers keep all their digits.
 *
 * @throws UserError USAGE, INPUT_INVALID
 */
export async function buildStartBody(context: CommandContext, options: JobInputOptions): Promise<RawJson> {
  const data = await readPart(context, "data", options.data, options.dataFile);
  const params = await readPart(context, "params", options.params, options.paramsFile);
  const parts = [
    ...(data === null ? [] : [`"data":${data}`]),
    ...(params === null ? [] : [`"params":${params}`]),
    ...(options.startAt === undefined ? [] : [`"startAt":${JSON.stringify(options.startAt)}`]),
    ...(options.webhook === undefined ? [] : [`"webhookUrl":${JSON.stringify(options.webhook)}`]),
    ...(options.startWithin === undefined ? [] : [`"startWithin":${parseStartWithin(options.startWithin)}`]),
  ];
  return { json: `{${parts.join(",")}}` };
}

async function readPart(
  context: CommandContext,
  name: "data" | "params",
  inline: string | undefined,
  file: string | undefined,
): Promise<string | null> {
  if (inline !== undefined) {
    const reason = checkObject(inline);
    if (reason === null) return inline;
    throw createUsageError(`--${name} ${reason}.`, `Example: --${name} '{"key": 1}'`);
  }
  const path = file ?? `input/${name}.json`;
  const text = await readIfThere(resolve(context.directory, path));
  if (text === null) {
    if (file !== undefined)
      throw new UserError("INPUT_INVALID", `The file '${path}' of --${name}-file does not exist.`);
    context.output.note(`${path} does not exist; '${name}' is omitted.`);
    return null;
  }
  const reason = checkObject(text);
  if (reason !== null) throw new UserError("INPUT_INVALID", `The file '${path}' ${reason}.`);
  return text;
}

/** Why the text is refused, as the rest of a sentence; null if it is a JSON object. */
function checkObject(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? null : "must contain a JSON object";
  } catch (error) {
    return `is not JSON: ${getMessage(error)}`;
  }
}
