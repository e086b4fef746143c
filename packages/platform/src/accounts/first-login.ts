import { open, readFile, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { getMessage } from "@platform/engine/base/thrown";
import type { Database } from "../postgres/database.ts";
import type { Logger } from "@platform/engine/base/logger";
import { syncDirectory } from "../base/files.ts";
import { SettingError } from "../config/settings.ts";
import { FIRST_LOGIN_LOCK } from "../postgres/locks.ts";
import type { Bootstrapped } from "./bootstrap.ts";
import type { Identity } from "./identity.ts";

/*
 * The first login must not be lost, since its password is stored nowhere else. It is written to `<file>.pending` and
 * flushed to the disk before its user is committed, and renamed afterwards. A crash leaves either no user (the next start
 * writes a new login) or a user and the pending file (the next start renames it).
 */

/** What the first login is written with. */
export interface FirstLoginOptions {
  /** Path of the file to write. */
  readonly file: string;
  readonly identity: Pick<Identity, "bootstrap" | "hasUsers" | "verifyToken" | "findUser">;
  /** For FIRST_LOGIN_LOCK; its statements may take long, since they wait for another process. */
  readonly database: Database;
  /** Written to the file with the login. */
  readonly urls: { readonly apiUrl: string; readonly gatewayUrl: string };
  readonly logger: Logger;
}

/**
 * On an empty database: creates the first user and writes the login to the file, which appears complete and with mode
 * 0600. Otherwise finishes what an interrupted start has left, if anything.
 *
 * @throws SettingError before anything is created, when the file cannot be written
 */
export async function provideFirstLogin(options: FirstLoginOptions): Promise<void> {
  const pending = `${options.file}.pending`;
  await options.database.transaction(async (run) => {
    await run({ text: "select pg_advisory_xact_lock($1)", values: [FIRST_LOGIN_LOCK] });
    if (await options.identity.hasUsers()) await finishInterrupted(options, pending);
    else await createLogin(options, pending);
  });
}

async function createLogin(
  { file, identity, urls, logger }: FirstLoginOptions,
  pending: string,
): Promise<void> {
  const handle = await openPending(file, pending);
  try {
    const created = await identity.bootstrap({
      beforeCommit: (login) => writeLogin(handle, pending, { ...urls, ...login }),
    });
    if (created === null) return await rm(pending, { force: true });
  } finally {
    await handle.close();
  }
  await publish(pending, file);
  logger.info({ file }, "the first login was written");
}

async function openPending(file: string, pending: string): Promise<FileHandle> {
  try {
    if ((await stat(file).catch(() => null))?.isDirectory() === true) throw new Error("it is a directory");
    // There is no user, so a login that an interrupted start has left is not usable.
    await rm(pending, { force: true });
    return await open(pending, "wx", 0o600);
  } catch (cause) {
    const reason = getMessage(cause);
    throw new SettingError(`The file of --bootstrap, ${file}, cannot be written: ${reason}.`, { cause });
  }
}

async function writeLogin(handle: FileHandle, pending: string, login: object): Promise<void> {
  await handle.writeFile(`${JSON.stringify(login, null, 2)}\n`);
  await handle.chmod(0o600);
  await handle.sync();
  await syncDirectory(dirname(pending));
}

async function publish(pending: string, file: string): Promise<void> {
  await rename(pending, file);
  await syncDirectory(dirname(file));
}

async function finishInterrupted(
  { file, identity, logger }: FirstLoginOptions,
  pending: string,
): Promise<void> {
  const token = await readToken(pending);
  if (token === null) {
    logger.info({ file }, "no first login was written: the database has users already");
    return;
  }
  const verified = await identity.verifyToken(token);
  if (verified !== null && (await identity.findUser(verified.userId)) !== null) {
    await publish(pending, file);
    logger.info({ file }, "the first login of an interrupted start was written");
    return;
  }
  logger.warn({ pending }, "the login of an interrupted start is not usable; removing it");
  await rm(pending, { force: true });
}

/** Null when there is no such file; an empty string, which is no valid token, when the file has another content. */
async function readToken(pending: string): Promise<string | null> {
  const text = await readFile(pending, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const login = JSON.parse(text) as Partial<Bootstrapped> | null;
    return typeof login?.personalAccessToken === "string" ? login.personalAccessToken : "";
  } catch {
    return "";
  }
}
