import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The Python half that lies beside these sources. */
export const RUNNER_DIRECTORY = fileURLToPath(new URL("../../../runner", import.meta.url));

/**
 * Copies the Python half to where the users of sandboxes can read it: the sources may lie in a home directory that is closed to others.
 * The folder around the copy is not changed.
 */
export function copyRunner(source: string, target: string): void {
  cpSync(source, target, {
    recursive: true,
    filter: (path) => !path.endsWith("__pycache__") && !path.endsWith("tests"),
  });
  for (const path of [target, join(target, "service_runner")]) chmodSync(path, 0o755);
}
