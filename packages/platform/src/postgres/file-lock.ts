import { DatabaseSync } from "node:sqlite";

export interface FileLock {
  /** Once is enough; more often does nothing. */
  readonly release: () => void;
}

/**
 * Takes a lock on a file that the operating system frees when this process dies, however it dies. Null when somebody
 * else, in this process or another, holds it in a way that excludes ours.
 *
 * Node has no flock(2). SQLite has portable locks of exactly this kind (https://sqlite.org/lockingv3.html), and no pid
 * file that could go stale: an open read transaction is a shared lock, `begin exclusive` an exclusive one.
 */
export function tryLock(path: string, mode: "shared" | "exclusive"): FileLock | null {
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    if (mode === "exclusive") file.exec("begin exclusive");
    else file.exec("begin; select count(*) from sqlite_master");
    return { release: () => void (file.isOpen && file.close()) };
  } catch (error) {
    file.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** The primary code; the higher bits say more exactly why (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    (error.errcode & 0xff) === SQLITE_BUSY
  );
}
