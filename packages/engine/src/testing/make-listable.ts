import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Opens a folder and all below it to its owner: those of inputs are closed to whoever is not root, and could not be listed or removed. */
export function makeListable(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) makeListable(join(path, entry.name));
}
