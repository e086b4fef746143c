import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { getMessage } from "../base/thrown.ts";

/** A Unix user that owns no files of the platform: that of a sandbox or of builds. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const READ = 4;
const EXECUTE = 1;

/**
 * Why this user cannot read `path` (and, for folders and executables, enter or run it), judged by the mode bits of it and of every folder
 * above it; null when the user can read it. Supplementary groups are ignored: a process that has dropped its privileges has none.
 */
export async function findAccessFault(
  path: string,
  user: SystemUser,
  needsExecute: boolean,
): Promise<string | null> {
  const steps = [{ path, wanted: needsExecute ? READ | EXECUTE : READ }];
  for (let folder = dirname(path), last = path; folder !== last; last = folder, folder = dirname(folder)) {
    steps.unshift({ path: folder, wanted: EXECUTE });
  }
  for (const step of steps) {
    const fault = await judge(step.path, user, step.wanted);
    if (fault !== null) return fault;
  }
  return null;
}

async function judge(path: string, user: SystemUser, wanted: number): Promise<string | null> {
  try {
    const stats = await stat(path);
    if (user.uid === 0) return null;
    const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
    const granted = (stats.mode >> shift) & 7;
    if ((granted & wanted) === wanted) return null;
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    return `'${path}' (mode ${mode}) is closed to uid ${user.uid}`;
  } catch (error) {
    return getMessage(error);
  }
}
