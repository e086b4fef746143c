import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@platform/engine/base/json";
import { getCode, getMessage } from "@platform/engine/base/thrown";
import { UserError } from "./errors.ts";
import { readIfThere } from "./files.ts";

/** The organisation that commands use. */
interface StoredContext {
  readonly id: string;
  readonly name: string;
}

/** The stored login. The quantum SDK reads `personalAccessToken` and `context.id` from the same file. */
export interface StoredConfig {
  readonly endpoint?: string;
  readonly personalAccessToken?: string;
  readonly context?: StoredContext;
}

/** The file that keeps the login and the context between commands; made by `createConfigFile`. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /**
   * Returns an empty configuration if the file does not exist.
   *
   * @throws UserError CONFIG_INVALID
   */
  readonly read: () => Promise<StoredConfig>;
  /**
   * Replaces the file by the result of `change`. Concurrent updates of several processes run one after the other; after a crash the
   * file is either the old one or the new one.
   *
   * @throws UserError CONFIG_INVALID, CONFIG_BUSY
   */
  readonly update: (change: (stored: StoredConfig) => StoredConfig) => Promise<void>;
}

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** An update takes milliseconds: an older lock belongs to a process that was killed. */
const STALE_LOCK_MS = 5_000;
const LOCK_WAIT_MS = 10_000;
const LOCK_POLL_MS = 20;

/** The configuration file in `directory`. Only the user can read and write it. */
export function createConfigFile(directory: string): ConfigFile {
  const path = join(directory, "config.json");
  const read = async () => {
    const text = await readIfThere(path);
    return text === null ? {} : parseConfig(text, path);
  };
  return {
    path,
    read,
    update: async (change) => {
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
      // `mkdir` does not change the mode of a folder that already exists.
      await chmod(directory, DIRECTORY_MODE);
      await holdLock(`${path}.lock`, async () => {
        await replaceFile(path, `${JSON.stringify(change(await read()), null, 2)}\n`);
      });
    },
  };
}

async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeDurably(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Runs `work` while holding the lock. The lock of a process that was killed is removed after `STALE_LOCK_MS`. */
async function holdLock(path: string, work: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (!(await tryLock(path))) {
    if (Date.now() > deadline)
      throw new UserError("CONFIG_BUSY", `Another command is changing the configuration (${path}).`, {
        hint: "Try again. If no other command is running, delete that file.",
      });
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  try {
    await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", FILE_MODE)).close();
    return true;
  } catch (error) {
    if (getCode(error) !== "EEXIST") throw error;
  }
  const age = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  // Renamed before it is removed: if two processes find the lock stale, only one of them succeeds.
  const stale = `${path}.${randomBytes(6).toString("hex")}`;
  if (age > STALE_LOCK_MS && (await succeeds(rename(path, stale)))) await rm(stale, { force: true });
  return false;
}

function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function parseConfig(text: string, path: string): StoredConfig {
  const value = parseJson(text, path);
  if (!isRecord(value)) throw createInvalid(path, "it does not contain a JSON object");
  const endpoint = readText(value, "endpoint", path);
  const personalAccessToken = readText(value, "personalAccessToken", path);
  const context = readContext(value, path);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(personalAccessToken === undefined ? {} : { personalAccessToken }),
    ...(context === undefined ? {} : { context }),
  };
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createInvalid(path, getMessage(error));
  }
}

function readText(holder: object, name: string, path: string): string | undefined {
  const value: unknown = Object.entries(holder).find(([key]) => key === name)?.[1];
  if (value === undefined || typeof value === "string") return value;
  throw createInvalid(path, `'${name}' is not a string`);
}

function readContext(holder: object, path: string): StoredContext | undefined {
  if (!("context" in holder) || holder.context === undefined) return undefined;
  const { context } = holder;
  if (typeof context !== "object" || context === null)
    throw createInvalid(path, "'context' is not an object");
  const id = readText(context, "id", path);
  if (id === undefined) throw createInvalid(path, "'context' has no 'id'");
  return { id, name: readText(context, "name", path) ?? id };
}

function createInvalid(path: string, reason: string): UserError {
  return new UserError("CONFIG_INVALID", `The configuration file '${path}' cannot be used: ${reason}.`, {
    hint: "Fix it, or delete it and log in again with 'platform login'.",
  });
}
