import { accessSync, constants, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

const SHARED = "/tmp";
/** `x` for others. */
const ENTER = 0o001;

/**
 * The folder for temporary files that versions may have to read. It is the system's (TMPDIR), but `/tmp` where that cannot be used, or belongs to
 * root alone, as with pam_tmpdir: as root, versions run as other users.
 */
export function findTemporaryFolder(): string {
  const wanted = tmpdir();
  return isUsable(wanted) && (process.getuid?.() !== 0 || isOpen(wanted)) ? wanted : SHARED;
}

function isUsable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether other users can enter the folder and every one above. */
function isOpen(folder: string): boolean {
  if ((statSync(folder).mode & ENTER) === 0) return false;
  return folder === dirname(folder) || isOpen(dirname(folder));
}
