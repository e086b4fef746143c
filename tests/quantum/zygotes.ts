import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Ids of the processes that start the sandboxes of versions below a data directory: each lives as long as the zygote in it. */
export async function findZygotes(dataDirectory: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/u.test(name));
  const lines = await Promise.all(
    pids.map(
      async (pid) => [pid, await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "")] as const,
    ),
  );
  return lines
    .filter(([, line]) => line.includes(dataDirectory) && line.includes("bwrap"))
    .map(([pid]) => pid);
}
