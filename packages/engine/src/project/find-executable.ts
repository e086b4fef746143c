import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute paths of all executables of this name on a search path (the value of `PATH`), in order. */
export async function findExecutables(name: string, searchPath: string): Promise<readonly string[]> {
  // Relative entries of PATH would depend on the working directory: a project's folder must not choose our tools.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const found: string[] = [];
  for (const folder of new Set(folders)) {
    const path = join(folder, name);
    if (await isExecutable(path)) found.push(path);
  }
  return found;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
