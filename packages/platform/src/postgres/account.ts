import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { findExecutables, SYSTEM_FOLDERS } from "@platform/engine/host/find-executables";
import { runTrusted } from "@platform/engine/host/processes";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";

/** The operating system user that PostgreSQL runs as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses uid 0 (src/backend/main/main.c), so root needs somebody else to run it. */
const FALLBACK_NAMES = ["postgres", "nobody"];

/**
 * Whom to run the server as: null (ourselves) unless we are root; then `user`, or else the first of `postgres` and
 * `nobody` that exists.
 */
export async function findAccount(user: string | undefined): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of user === undefined ? FALLBACK_NAMES : [user]) {
    const account = await lookUp(name);
    if (account !== null && account.uid !== 0) return account;
  }
  const wanted = user === undefined ? FALLBACK_NAMES.join(" nor ") : user;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and there is no ordinary user ${wanted} to run it as. ` +
      `Start the platform as an ordinary user, or name an existing one for the embedded server. ${USE_DATABASE_URL}`,
  );
}

const LOOK_UP_TIMEOUT_MS = 10_000;

async function lookUp(name: string): Promise<Account | null> {
  const [id] = await findExecutables("id", SYSTEM_FOLDERS);
  if (id === undefined) return null;
  const ask = async (option: string): Promise<number> =>
    Number(await runTrusted(id, [option, name], { env: {}, timeout: LOOK_UP_TIMEOUT_MS }));
  try {
    const [uid, gid] = await Promise.all([ask("-u"), ask("-g")]);
    return { name, uid, gid };
  } catch {
    return null;
  }
}

const EXECUTE = 1;
const READ = 4;

/** The first folder on the way to `path` (itself included) that the account may not enter, or null. */
export async function findClosedFolder(path: string, account: Account): Promise<string | null> {
  const parent = dirname(path);
  const closed = parent === path ? null : await findClosedFolder(parent, account);
  if (closed !== null) return closed;
  return (await allows(path, account, EXECUTE)) ? null : path;
}

/** Whether the account may read the file or folder, the way to it included. */
export async function canRead(path: string, account: Account): Promise<boolean> {
  if ((await findClosedFolder(dirname(path), account)) !== null) return false;
  return allows(path, account, READ);
}

async function allows(path: string, account: Account, bit: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bit) !== 0;
}
