import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../base/json.ts";
import { formatBytes } from "../project/limits.ts";
import { ProjectError } from "../project/project-error.ts";
import type { EnvironmentSettings } from "./environment-settings.ts";

const OWNER_FILE = "owner.json";

/** Notes in a build's folder whose it is and what it takes; nothing for a build that all owners share. */
export async function noteOwner(directory: string, owner: string | null, bytes: number): Promise<void> {
  if (owner === null) return;
  await writeFile(join(directory, OWNER_FILE), JSON.stringify({ owner, bytes }), { mode: 0o600 });
}

/**
 * Checks that the environments of an owner on this host are within its quota, with those that are noted and not published yet. It reads one small
 * file for each environment, which is nothing beside a build.
 *
 * @throws ProjectError BUILD_FAILED
 */
export async function checkOwnerQuota(
  { environments, ownerBytes }: Pick<EnvironmentSettings, "environments" | "ownerBytes">,
  owner: string | null,
): Promise<void> {
  if (owner === null || ownerBytes === Number.POSITIVE_INFINITY) return;
  let bytes = 0;
  for (const entry of await readdir(environments, { withFileTypes: true })) {
    // Their links would count them once more.
    if (entry.isDirectory()) bytes += await readBytes(join(environments, entry.name), owner);
  }
  if (bytes < ownerBytes) return;
  throw new ProjectError(
    "BUILD_FAILED",
    `The installed requirements of your organisation's versions would take more than ${formatBytes(ownerBytes)}. Let versions share their requirements, or name fewer; what is not used for two weeks is removed.`,
  );
}

/** 0 for the environment of another owner, or of all, or one that is being built. */
async function readBytes(directory: string, owner: string): Promise<number> {
  const note: unknown = await readFile(join(directory, OWNER_FILE), "utf8")
    .then(JSON.parse)
    .catch(() => null);
  return isRecord(note) && note["owner"] === owner && typeof note["bytes"] === "number" ? note["bytes"] : 0;
}
