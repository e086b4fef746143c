import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { getCode } from "@platform/engine/base/thrown";

/** The content of a text file, without a byte order mark; null when there is no such file. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    if (getCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Writes a file to a path that the user chose; creates missing parent folders. */
export async function writeOutputFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
