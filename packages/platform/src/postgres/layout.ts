import { createHash } from "node:crypto";
import { chown, lstat, mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findClosedFolder } from "./account.ts";
import type { Account } from "./account.ts";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";

/** Paths of one embedded server. */
export interface Layout {
  readonly directory: string;
  readonly data: string;
  readonly socketDirectory: string;
  /** Held exclusively by the owner: the process that is responsible for the server. */
  readonly ownerLock: string;
  /** Held as a shared lock by every process that uses the server. */
  readonly memberLock: string;
  readonly log: string;
}

/** Only part of the socket's name: the server does not listen on TCP. */
export const SERVER_PORT = 5432;

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the ending NUL included; the server adds `.s.PGSQL.5432.lock`. */
const MAX_SOCKET_PATH_BYTES = 100;

/** `root` must be a real path (no symbolic links), so that all processes use the same socket and lock files. */
export function planLayout(root: string): Layout {
  return {
    directory: root,
    data: join(root, "data"),
    socketDirectory: chooseSocketDirectory(root),
    ownerLock: join(root, "owner.lock"),
    memberLock: join(root, "members.lock"),
    log: join(root, "server.log"),
  };
}

function chooseSocketDirectory(root: string): string {
  const inside = join(root, "socket");
  const path = join(inside, `.s.PGSQL.${SERVER_PORT}`);
  if (Buffer.byteLength(path) < MAX_SOCKET_PATH_BYTES) return inside;
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  return join(tmpdir(), `platform-postgres-${name}`);
}

/** Creates the directory and returns its real path. @throws EmbeddedPostgresError when the account cannot enter it */
export async function createDirectory(directory: string, account: Account | null): Promise<string> {
  await mkdir(directory, { recursive: true, mode: account === null ? 0o700 : 0o755 });
  const root = await realpath(directory);
  if (account === null) return root;
  const closed = await findClosedFolder(root, account);
  if (closed === null) return root;
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as user ${account.name} (it refuses root), who may not enter ${closed} on the way to its data in ` +
      `${root}. Choose a data directory outside it, or allow entering with: chmod o+x ${closed}. ${USE_DATABASE_URL}`,
  );
}

/**
 * Creates the private folder of the socket: a program that can open the socket is superuser of the database.
 *
 * @throws EmbeddedPostgresError when the folder exists and is not private
 */
export async function createSocketDirectory(layout: Layout, account: Account | null): Promise<void> {
  await makePrivateFolder(layout.socketDirectory, account);
  const { mode, uid } = await lstat(layout.socketDirectory);
  const expected = account?.uid ?? process.getuid?.();
  // In the shared temporary folder another user may have created it.
  const isPrivate = (mode & 0o170_000) === 0o040_000 && (mode & 0o077) === 0 && uid === expected;
  if (isPrivate) return;
  throw new EmbeddedPostgresError(
    `${layout.socketDirectory} is not a private folder of the user that runs PostgreSQL. Remove it and start again, ` +
      `or choose a data directory with a shorter path. ${USE_DATABASE_URL}`,
  );
}

/** `mkdir -m 0700`, owned by the account; leaves an existing folder as it is. */
export async function makePrivateFolder(path: string, account: Account | null): Promise<void> {
  const isNew = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
  if (isNew && account !== null) await chown(path, account.uid, account.gid);
}
