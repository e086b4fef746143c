import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { findAccessFault } from "@platform/engine/environments/access";
import type { SystemUser } from "@platform/engine/environments/access";

/** Where root keeps environments when its home is closed to others, as it usually is. */
const SHARED_DIRECTORY = "/var/cache/platform";

/** Environments must be readable by the user that versions run as; null: that is the one who called us. */
export async function chooseEnvironmentsDirectory(
  directory: string,
  user: SystemUser | null,
  onNote: (text: string) => void,
): Promise<string> {
  if (user === null) return directory;
  const fault = await findAccessFault(await findExisting(directory), user, true);
  if (fault === null) return directory;
  onNote(`Environments are kept in ${SHARED_DIRECTORY}: ${fault}.`);
  return SHARED_DIRECTORY;
}

async function findExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? homedir() : findExisting(parent);
  }
}
