import { chmod, copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listProjectFiles } from "@platform/engine/project/list-files";

/**
 * Copies the files of the project that `up` would deploy to a new folder `target`, which the sandbox can read. So the same files run as
 * after a deployment, and an execution keeps its code while the project is edited.
 *
 * @param exclude paths, relative to the project, that are not copied
 * @returns the paths that are
 * @throws ProjectError INVALID_PROJECT for files that cannot be deployed
 */
export async function copyProject(
  directory: string,
  target: string,
  exclude: readonly string[],
): Promise<readonly string[]> {
  const paths = await listProjectFiles(directory, exclude);
  await makeFolder(target);
  const folders = new Set<string>();
  for (const path of paths) {
    for (const folder of listParents(path)) {
      if (!folders.has(folder)) await makeFolder(join(target, folder));
      folders.add(folder);
    }
    await copyFile(join(directory, path), join(target, path));
    await chmod(join(target, path), 0o644);
  }
  return paths;
}

/** `a/b/c.py` -> `a`, `a/b`. */
function listParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...listParents(parent), parent];
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // The umask may be strict, and if this process is root, the sandbox runs as another user.
  await chmod(path, 0o755);
}
