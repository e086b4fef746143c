import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, isTextDeeperThan } from "@platform/engine/base/json";
import { getCode } from "@platform/engine/base/thrown";
import { findExcess } from "@platform/engine/input-schema/bounds";
import type { ExampleInput } from "../store/versions/versions.ts";

/** Of each of the two files; what is larger is data, and no example. */
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 100;

/**
 * The input that the project's author tries it with, `input/data.json` and `input/params.json`, for forms and examples of calls; null: there is
 * none, or it cannot be shown as it is, which the log then says.
 */
export async function readExampleInput(
  directory: string,
  onLog: (line: string) => void,
): Promise<ExampleInput | null> {
  const data = await readPart(join(directory, "input", "data.json"));
  const params = await readPart(join(directory, "input", "params.json"));
  const example = {
    ...(data.value === null ? {} : { data: data.value }),
    ...(params.value === null ? {} : { params: params.value }),
  };
  const excess = findExcess(example);
  const faults = [
    ...(data.fault === null ? [] : [`input/data.json ${data.fault}`]),
    ...(params.fault === null ? [] : [`input/params.json ${params.fault}`]),
    ...(excess === null ? [] : [`together it ${excess}`]),
  ];
  for (const fault of faults) onLog(`The example input is not shown: ${fault}.`);
  return faults.length > 0 || Object.keys(example).length === 0 ? null : example;
}

interface Part {
  readonly value: Readonly<Record<string, unknown>> | null;
  /** As the end of a sentence; null: nothing is wrong with it. */
  readonly fault: string | null;
}

async function readPart(path: string): Promise<Part> {
  const text = await readText(path);
  if (text === null) return { value: null, fault: null };
  if (text === "too large") return { value: null, fault: `is larger than ${MAX_BYTES} bytes` };
  if (isTextDeeperThan(text, MAX_DEPTH))
    return { value: null, fault: `is nested deeper than ${MAX_DEPTH} levels` };
  try {
    const value: unknown = JSON.parse(text, requireExact);
    return isRecord(value) ? { value, fault: null } : { value: null, fault: "is no JSON object" };
  } catch (error) {
    return {
      value: null,
      fault: error instanceof Inexact ? "has a number that would lose digits" : "is not JSON",
    };
  }
}

class Inexact extends Error {}

/** An example that has another number than its file would be another input. */
function requireExact(_name: string, value: unknown): unknown {
  if (
    typeof value === "number" &&
    (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
  )
    throw new Inexact();
  return value;
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
