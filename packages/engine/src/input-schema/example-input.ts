import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { isRecord, isTextDeeperThan } from "../base/json.ts";
import { getCode } from "../base/thrown.ts";
import { findExcess } from "./bounds.ts";

/** Of each of the two files; what is larger is data, and no example. */
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 100;

/** `data` and `params` of a start. */
interface ExampleInput {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** `data` and `params` of a start as they stand in their files, with all digits; null: there is none that could be sent. */
export interface ExampleTexts {
  readonly data: string | null;
  readonly params: string | null;
}

/** Where the example of a project stands, in its folder. */
const PARTS = { data: "input/data.json", params: "input/params.json" } as const;

/**
 * The input that the project's author tries it with, `input/data.json` and `input/params.json`, for forms and examples of calls; null: there is
 * none, or it cannot be shown as it is, which the log then says.
 */
export async function readExampleInput(
  directory: string,
  onLog: (line: string) => void,
): Promise<ExampleInput | null> {
  const { example, faults } = await readExample(directory);
  for (const fault of faults) onLog(`The example input is not shown: ${fault}.`);
  return faults.length > 0 || Object.keys(example).length === 0 ? null : example;
}

/** The same, digit by digit, and each on its own: what is wrong with it as a value can be right as a text. `faults`: why there is no example on a platform. */
export async function readExampleTexts(
  directory: string,
): Promise<{ readonly texts: ExampleTexts; readonly faults: readonly string[] }> {
  const { data, params, faults } = await readExample(directory);
  return { texts: { data: data.text, params: params.text }, faults };
}

async function readExample(directory: string) {
  const data = await readPart(join(directory, PARTS.data));
  const params = await readPart(join(directory, PARTS.params));
  const example: ExampleInput = {
    ...(data.value === null ? {} : { data: data.value }),
    ...(params.value === null ? {} : { params: params.value }),
  };
  const excess = findExcess(example);
  const faults = [
    ...(data.fault === null ? [] : [`${PARTS.data} ${data.fault}`]),
    ...(params.fault === null ? [] : [`${PARTS.params} ${params.fault}`]),
    ...(excess === null ? [] : [`together it ${excess}`]),
  ];
  return { data, params, example, faults };
}

interface Part {
  readonly value: Readonly<Record<string, unknown>> | null;
  /** JSON text of an object; null: it is none. */
  readonly text: string | null;
  /** As the end of a sentence; null: nothing is wrong with it. */
  readonly fault: string | null;
}

const none = (fault: string | null): Part => ({ value: null, text: null, fault });

async function readPart(path: string): Promise<Part> {
  const text = await readText(path);
  if (text === null) return none(null);
  if (text === "too large") return none(`is larger than ${MAX_BYTES} bytes`);
  if (isTextDeeperThan(text, MAX_DEPTH)) return none(`is nested deeper than ${MAX_DEPTH} levels`);
  try {
    // An example that has another number than its file would be another input.
    const value = parseExactNumbers(text);
    return isRecord(value) ? { value, text, fault: null } : none("is no JSON object");
  } catch {
    return none("is not JSON");
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    if ((await stat(path)).size > MAX_BYTES) return "too large";
    return await readFile(path, "utf8");
  } catch (error) {
    const code = getCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}
