import { lchown, lstat, readFile, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findExecutables, SYSTEM_FOLDERS } from "@platform/engine/host/find-executables";
import { runTrusted } from "@platform/engine/host/processes";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";

/** The operating system user that PostgreSQL runs as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses uid 0 (src/backend/main/main.c), so root runs it under a uid that no account and no other program has,
 * below those of builds and sandboxes. A program with the same uid could change the database; `nobody` is therefore not
 * used, which daemons share. The second uid is for containers that map only the first 65,536 (Debian keeps it free, policy
 * 9.2.2).
 */
const RESERVED_UIDS = [199_998, 59_998];
const RESERVED_NAME = "of the embedded PostgreSQL";

/**
 * The account to run the server as. Null unless this process is root: the server then runs as the same user. For root,
 * `user` if given, else a reserved uid, else the user `postgres`.
 *
 * @throws EmbeddedPostgresError when there is none of these
 */
export async function findAccount(user: string | undefined): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const account =
    user === undefined ? ((await findReserved()) ?? (await lookUp("postgres"))) : await lookUp(user);
  if (account !== null && account.uid !== 0) return account;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and there is no ordinary user ${user ?? "postgres"} to run it as. ` +
      `Start the platform as an ordinary user, or name an existing one for the embedded server. ${USE_DATABASE_URL}`,
  );
}

/** The first reserved uid that this user namespace maps (user_namespaces(7)), as gid too. */
async function findReserved(): Promise<Account | null> {
  const [uids, gids] = await Promise.all(["uid_map", "gid_map"].map(readMap));
  for (const uid of RESERVED_UIDS) {
    if (uids?.(uid) === true && gids?.(uid) === true)
      return { name: `${uid} (${RESERVED_NAME})`, uid, gid: uid };
  }
  return null;
}

async function readMap(name: string): Promise<(id: number) => boolean> {
  const text = await readFile(`/proc/self/${name}`, "utf8").catch(() => "");
  const ranges = text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/u).map(Number));
  return (id) => ranges.some(([first = 0, , count = 0]) => id >= first && id < first + count);
}

/** `initdb` refuses a uid without a name, which the server accepts: one of these runs it, and the files are then given over. */
const NAMED = ["nobody", "daemon", "postgres"];

/** The account to run `initdb` as, for a server that runs as `account`. */
export async function findInitializer(account: Account | null): Promise<Account | null> {
  if (account === null || !account.name.endsWith(`(${RESERVED_NAME})`)) return account;
  for (const name of NAMED) {
    const named = await lookUp(name);
    if (named !== null && named.uid !== 0) return named;
  }
  return account;
}

/** Gives a tree to the account, without following links. False when the account has it already. */
export async function giveOver(directory: string, account: Account): Promise<boolean> {
  if ((await lstat(directory)).uid === account.uid) return false;
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), account.uid, account.gid);
  // The folder itself comes last, so that after an interruption the whole tree is given over again.
  await lchown(directory, account.uid, account.gid);
  return true;
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

/** The first folder on the way to `path`, which is included, that the account may not enter; null: there is none. */
export async function findClosedFolder(path: string, account: Account): Promise<string | null> {
  const parent = dirname(path);
  const closed = parent === path ? null : await findClosedFolder(parent, account);
  if (closed !== null) return closed;
  return (await allows(path, account, EXECUTE)) ? null : path;
}

/** Whether the account may read the file or folder and enter all folders above it. */
export async function canRead(path: string, account: Account): Promise<boolean> {
  if ((await findClosedFolder(dirname(path), account)) !== null) return false;
  return allows(path, account, READ);
}

async function allows(path: string, account: Account, bit: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bit) !== 0;
}
