import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file to a path that the user chose; creates missing parent folders. */
export async function writeOutputFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
