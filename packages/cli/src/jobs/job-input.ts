import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { RawJson } from "@platform/contract/client";
import { isRecord } from "@platform/engine/base/json";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError, getErrorCode, getErrorMessage } from "../base/errors.ts";

export interface JobInputOptions {
  readonly data: string | undefined;
  readonly params: string | undefined;
  readonly dataFile: string | undefined;
  readonly paramsFile: string | undefined;
}

/**
 * The body of start from options and files. The texts go out as they are: numbers keep all their digits.
 *
 * @throws UserError USAGE, INPUT_INVALID
 */
export async function buildStartBody(context: CommandContext, options: JobInputOptions): Promise<RawJson> {
  const data = await readPart(context, "data", options.data, options.dataFile);
  const params = await readPart(context, "params", options.params, options.paramsFile);
  const parts = [
    ...(data === null ? [] : [`"data":${data}`]),
    ...(params === null ? [] : [`"params":${params}`]),
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
    const fault = findFault(inline);
    if (fault === null) return inline;
    throw createUsageError(`--${name} ${fault}.`, `Example: --${name} '{"key": 1}'`);
  }
  const path = file ?? `input/${name}.json`;
  const text = await readIfThere(resolve(context.directory, path));
  if (text === null) {
    if (file !== undefined)
      throw new UserError("INPUT_INVALID", `The file '${path}' of --${name}-file does not exist.`);
    context.output.note(`There is no ${path}: '${name}' is left out.`);
    return null;
  }
  const fault = findFault(text);
  if (fault !== null) throw new UserError("INPUT_INVALID", `The file '${path}' ${fault}.`);
  return text;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

function findFault(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? null : "must hold a JSON object";
  } catch (error) {
    return `is not JSON: ${getErrorMessage(error)}`;
  }
}
