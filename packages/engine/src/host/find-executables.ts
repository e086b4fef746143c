import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { TrustedExecutable } from "./trusted-executable.ts";

/** The system's folders, searched after the search path. */
export const SYSTEM_FOLDERS = "/usr/bin:/usr/local/bin:/bin";

/** All executables of this name on a search path (the value of `PATH`), in order. */
export async function findExecutables(
  name: string,
  searchPath: string,
): Promise<readonly TrustedExecutable[]> {
  // Relative entries of PATH would depend on the working directory: the folder of a project must not choose the platform's tools.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const found: TrustedExecutable[] = [];
  for (const folder of new Set(folders)) {
    const path = join(folder, name);
    if (await isExecutable(path)) found.push(TrustedExecutable.vouchFor(path, "search path"));
  }
  return found;
}

/** Whether this process may run the file. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
