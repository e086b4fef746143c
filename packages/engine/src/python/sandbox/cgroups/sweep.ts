import { join } from "node:path";
import { isLeftOver } from "./names.ts";
import { listGroups, removeTrees } from "./remove-groups.ts";

/** Removes the groups that dead workers left in a folder, with all processes in them. What cannot be removed is left for the next start. */
export async function sweepLeftOvers(folder: string): Promise<void> {
  const names = listGroups(folder).filter(isLeftOver);
  await Promise.all(names.map((name) => removeTrees([join(folder, name)])));
}
