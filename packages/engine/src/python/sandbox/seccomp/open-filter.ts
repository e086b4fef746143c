import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * An open descriptor from which a filter can be read once; a launcher such as bubblewrap takes it that way. Nothing of it is left
 * in the folder. The caller closes it.
 */
export function openFilter(program: Buffer, folder: string): number {
  const path = join(folder, "filter");
  writeFileSync(path, program, { flag: "wx", mode: 0o600 });
  const descriptor = openSync(path, "r");
  try {
    rmSync(path);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
