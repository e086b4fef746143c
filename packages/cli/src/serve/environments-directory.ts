import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { findAccessFault } from "@platform/engine/environments/access";
import type { SystemUser } from "@platform/engine/environments/access";

/** Folder of environments if the user that versions run as cannot read the home of root, which is the usual case. */
const SHARED_DIRECTORY = "/var/cache/platform";

/**
 * Chooses the folder of environments, which must be readable by the user that versions run as.
 *
 * @param directory preferred folder; it need not exist
 * @param user null: the user of this process
 * @returns `directory`, or a shared folder, which `onNote` explains
 */
export async function chooseEnvironmentsDirectory(
  directory: string,
  user: SystemUser | null,
  onNote: (text: string) => void,
): Promise<string> {
  if (user === null) return directory;
  const reason = await findAccessFault(await findExisting(directory), user, true);
  if (reason === null) return directory;
  onNote(`Environments are kept in ${SHARED_DIRECTORY}: ${reason}.`);
  return SHARED_DIRECTORY;
}

/** The path itself, or its nearest parent that exists. */
async function findExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? homedir() : findExisting(parent);
  }
}
