import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Where a sandbox shows the project that it runs. */
const PROJECT = "/app";

/** Ids of the processes that start the sandboxes of a project's versions below a data directory: each lives as long as the zygote in it. */
export async function findZygotes(dataDirectory: string, project: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/u.test(name));
  const names = await Promise.all(pids.map((pid) => findProject(pid, dataDirectory)));
  return pids.filter((_pid, index) => names[index] === project);
}

/** The name of the project that a process starts a sandbox of; null: it starts none. */
async function findProject(pid: string, dataDirectory: string): Promise<string | null> {
  const line = await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "");
  const words = line.split("\0");
  const folder = words[words.indexOf(PROJECT) - 1] ?? "";
  if (!folder.startsWith(dataDirectory)) return null;
  const file = await readFile(join(folder, "platform.json"), "utf8").catch(() => "{}");
  return (JSON.parse(file) as { readonly name?: string }).name ?? null;
}
