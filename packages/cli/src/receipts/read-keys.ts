import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isRecord } from "@platform/engine/base/json";
import { getMessage } from "@platform/engine/base/thrown";
import type { CommandContext } from "../base/context.ts";
import { UserError } from "../base/errors.ts";
import type { KeySet } from "./verify-receipt.ts";

const MAX_KEYS_LENGTH = 1_048_576;

/** Reads a JSON Web Key Set from a file or a URL. @throws UserError KEYS_UNREADABLE */
export async function readKeys(context: CommandContext, source: string): Promise<KeySet> {
  const text = await readText(context, source).catch((error: unknown) => {
    throw refuse(source, getMessage(error), error);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(source, "they are not JSON", error);
  }
  const keys: unknown = isRecord(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys)) throw refuse(source, "they are no JSON Web Key Set, which has a list of keys");
  return { keys };
}

async function readText({ directory, signal }: CommandContext, source: string): Promise<string> {
  if (!/^https?:\/\//.test(source)) return await readFile(resolve(directory, source), "utf8");
  const response = await fetch(source, { redirect: "error", signal });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return await readShort(response);
}

async function readShort(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_KEYS_LENGTH) throw new Error("they are larger than any key set");
  }
  return text;
}

function refuse(source: string, reason: string, cause?: unknown): UserError {
  return new UserError("KEYS_UNREADABLE", `The keys cannot be read from ${source}: ${reason}.`, { cause });
}
