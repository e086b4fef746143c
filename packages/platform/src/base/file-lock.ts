import { DatabaseSync } from "node:sqlite";

/** A lock that is held. */
export interface FileLock {
  /** Releases the lock; repeating it does nothing. */
  readonly release: () => void;
}

/**
 * Takes a lock on a file, which the operating system releases however this process ends. Null when a conflicting lock is
 * held, in this process or another.
 *
 * Node has no flock(2). SQLite's locks (https://sqlite.org/lockingv3.html) are portable and need no pid file that could
 * become stale: an open read transaction is a shared lock, `begin exclusive` an exclusive one.
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

/** The primary result code; the higher bits have details (https://sqlite.org/rescode.html). */
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
