import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
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

/**
 * Makes a folder that the user chose, and those above it. Not `recursive` of Node.js: it tries for ever where nothing can be made, as below
 * `/proc`, and no signal ends that (24.11, 2026-11-24).
 */
export async function makeOutputFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeOutputFolder(dirname(path));
  await mkdir(path).catch(async (error: unknown) => {
    // Another program was faster.
    if (getCode(error) !== "EEXIST" || !(await isFolder(path))) throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** Writes a file to a path that the user chose; creates missing parent folders. */
export async function writeOutputFile(path: string, content: string | Uint8Array): Promise<void> {
  await makeOutputFolder(dirname(path));
  await writeFile(path, content);
}
