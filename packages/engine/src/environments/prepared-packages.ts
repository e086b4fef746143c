import { randomBytes } from "node:crypto";
import { mkdir, rename, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { shareWork } from "../base/shared-work.ts";
import type { SharedWork } from "../base/shared-work.ts";
import { removeTree } from "../files/remove-tree.ts";
import { syncTree } from "../files/sync-tree.ts";
import { runBuildCommand } from "./build-command.ts";
import { getEnvironmentFolder, makeFolder } from "./build-folders.ts";
import { createBuildVariables } from "./build-variables.ts";
import { createBaseKey } from "./environment-key.ts";
import type { Interpreter } from "./interpreter.ts";
import { publishTree } from "./publish-tree.ts";

/*
 * `python -m venv` unpacks and compiles pip in each environment anew. So an environment with nothing else is made once, and the packages of
 * others are copied from it. It lies in `<directory>/prepared/<key>-<month>/venv`; folders with a dot in their name are not finished.
 *
 * The user of this process makes it, from what came with the interpreter, and no build writes it: what one owner's packages do must not be in
 * the environments of others, also where a user of builds has had another build at the same time, of another process.
 */

/** The folder of what is prepared, beside that of the environments. */
export const PREPARED_FOLDER = "prepared";
/** In it: for an interpreter and a month; with a dot, what is not finished, or is being removed. */
export const PREPARED_NAME = /^v\d+-[0-9a-f]{64}-\d{4}-\d{2}(?:\.[0-9a-f]{12}|\.unused)?$/;

/** What environments of one interpreter begin with. */
export interface PreparedPackages {
  /** Where it lies, readable by all users and writable by the one of this process; it may not exist yet. */
  readonly directory: string;
  /**
   * The environment that packages are copied from, made unless it is there.
   *
   * @throws Error when it cannot be made; the reason of `signal` when that aborts
   */
  readonly provide: (signal: AbortSignal) => Promise<string>;
}

/** `directory`: that of the environment builder. */
export function createPreparedPackages(directory: string, interpreter: Interpreter): PreparedPackages {
  const root = join(directory, PREPARED_FOLDER);
  let running: SharedWork<string> | null = null;
  const forget = (): void => void (running = null);
  const start = (path: string): SharedWork<string> => {
    const work = shareWork(({ signal }) => prepare(path, interpreter, signal));
    work.result.then(forget, forget);
    return work;
  };
  const provide = async (signal: AbortSignal): Promise<string> => {
    const path = locate(root, interpreter);
    if (await isThere(path)) return getEnvironmentFolder(path);
    signal.throwIfAborted();
    if (running?.isStopped() === true) {
      await running.result.catch(() => undefined);
      return provide(signal);
    }
    running ??= start(path);
    // What was begun in the month before is as good.
    return getEnvironmentFolder(await running.join(signal));
  };
  return { directory: root, provide };
}

/** Made anew each month, since the system may have updated the pip of the interpreter. */
function locate(root: string, interpreter: Interpreter): string {
  return join(root, `${createBaseKey(interpreter)}-${new Date().toISOString().slice(0, 7)}`);
}

/** Writes the time of use before it is relied on: the collector spares what was just used (remove-unused.ts). */
async function isThere(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

async function prepare(path: string, interpreter: Interpreter, signal: AbortSignal): Promise<string> {
  await makeFolder(dirname(path), null);
  const unfinished = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    // Nobody else comes to it before its files are given their modes, whatever the umask.
    await mkdir(unfinished, { mode: 0o700 });
    await install(unfinished, interpreter, signal);
    await publishTree(unfinished, { user: null, signal });
    await syncTree(unfinished, signal);
    await rename(unfinished, path);
  } catch (error) {
    await removeTree(unfinished);
    // Another process may have been faster.
    if (!(await isThere(path))) throw error;
  }
  return path;
}

/** Nothing here is of a project, so it runs as the user of this process, without a sandbox. */
async function install(folder: string, interpreter: Interpreter, signal: AbortSignal): Promise<void> {
  const scratch = join(folder, "scratch");
  const own = { directory: scratch, home: join(scratch, "home"), temporary: join(scratch, "tmp") };
  for (const path of Object.values(own)) await makeFolder(path, null);
  let said = "";
  const { executable } = interpreter;
  const command = { executable: executable.path, args: ["-I", "-m", "venv", getEnvironmentFolder(folder)] };
  const { code } = await runBuildCommand(command, {
    directory: folder,
    variables: createBuildVariables(own, null),
    user: null,
    wrap: ({ args }) => ({ executable, args, filter: null }),
    group: null,
    signal,
    onLine: (line) => void (said = line.trim() || said),
  });
  signal.throwIfAborted();
  if (code !== 0) throw new Error(said === "" ? "venv failed" : said);
  await removeTree(scratch);
}
