import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";

/** kill -9 of the embedded PostgreSQL's postmaster and of all of its children. @throws Error when there is none */
export async function killPostgres(dataDirectory: string): Promise<void> {
  const postmaster = await readPostmaster(dataDirectory);
  if (postmaster === null) throw new Error("there is no postmaster.pid");
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  for (const pid of [postmaster, ...children.trim().split(" ").map(Number)]) signal(pid, "SIGKILL");
}

/** Ends the embedded PostgreSQL, or its start, at once; does nothing while it is down. */
export async function quitPostgres(dataDirectory: string): Promise<void> {
  const postmaster = await readPostmaster(dataDirectory);
  if (postmaster !== null) signal(postmaster, "SIGQUIT");
}

/** Null: there is no server, or it has not written its number yet. */
async function readPostmaster(dataDirectory: string): Promise<number | null> {
  const file = join(dataDirectory, "postgres/data/postmaster.pid");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  return Number.parseInt(text, 10) || null;
}

function signal(pid: number, name: "SIGKILL" | "SIGQUIT"): void {
  try {
    kill(pid, name);
  } catch (error) {
    // It may be gone since its number was read.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
