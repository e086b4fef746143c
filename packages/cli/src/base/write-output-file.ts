import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file that the user named, making the folders above it. */
export async function writeOutputFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
