import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Opens a folder and all below it to its owner: those of inputs are closed to whoever is not root, and could not be listed or removed. */
export function makeListable(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) makeListable(join(path, entry.name));
}

/** What is in such a folder. Its permissions are as before afterwards, so that a run finds it as the platform made it. */
export function listClosed(path: string): readonly string[] {
  const { mode } = statSync(path);
  chmodSync(path, mode | 0o700);
  try {
    return readdirSync(path);
  } finally {
    chmodSync(path, mode);
  }
}
