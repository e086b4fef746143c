import { randomBytes } from "node:crypto";
import { chmod, link, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { geteuid } from "node:process";
import { makeFolder } from "../base/make-folder.ts";
import { StartError, describeSystemError } from "./start-error.ts";
import { syncDirectory } from "../base/sync-directory.ts";
import type { Logger } from "../base/logger.ts";

/** Where root keeps what other users must reach when the chosen directory lies in a closed folder. */
const OPEN_PLACE = "/var/lib/platform";
const LOCATION_FILE = "location";
const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
/** The path of a socket is limited to 107 bytes, and ours stand a few folders deep. */
const MAX_RUN_DIRECTORY = 60;

/** The folders of one platform; several processes of one machine share them. */
export interface DataDirectory {
  readonly root: string;
  readonly postgres: string;
  readonly objects: string;
  readonly versions: string;
  readonly environments: string;
  /** Sockets and scratch of this process alone. */
  readonly run: string;
}

/**
 * Makes the data directory usable. As root, PostgreSQL and the sandboxes run under other uids, which must be able to
 * walk to their files: where a folder above is closed to them, the data is kept below /var/lib/platform instead, and
 * a file named `location` in the chosen directory says where.
 *
 * @throws StartError when the operating system refuses
 */
export async function openDataDirectory(wanted: string, logger: Logger): Promise<DataDirectory> {
  try {
    return await makeFolders(wanted, logger);
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    const path = error instanceof Error && "path" in error ? String(error.path) : wanted;
    throw new StartError(
      `The data directory ${wanted} cannot be used: ${path}: ${reason}. Choose another with --data-dir.`,
      {
        cause: error,
      },
    );
  }
}

async function makeFolders(wanted: string, logger: Logger): Promise<DataDirectory> {
  await makeFolder(wanted);
  const root = await findOpenRoot(wanted);
  if (root !== wanted)
    logger.warn(
      { wanted, used: root },
      "a folder above the data directory is closed to other users; the data is kept elsewhere",
    );
  const folders = {
    root,
    postgres: join(root, "postgres"),
    objects: join(root, "objects"),
    versions: join(root, "versions"),
    environments: join(root, "environments"),
    run: await createRunDirectory(root),
  };
  await makeFolder(folders.objects, 0o700);
  await makeFolder(folders.versions, 0o755);
  return folders;
}

/** The platform's secret: as configured, or one that is made once and kept with mode 0600. */
export async function readSecret(root: string, configured: string | null): Promise<string> {
  if (configured !== null) return configured;
  const file = join(root, SECRET_FILE);
  return writeOnce(file, randomBytes(SECRET_BYTES).toString("base64url"));
}

async function findOpenRoot(wanted: string): Promise<string> {
  if (geteuid?.() !== 0) return wanted;
  if (await isOpenAbove(wanted)) {
    await chmod(wanted, 0o711);
    return wanted;
  }
  const file = join(wanted, LOCATION_FILE);
  const root = await writeOnce(file, join(OPEN_PLACE, randomBytes(6).toString("hex")));
  await makeFolder(root, 0o711);
  await chmod(root, 0o711);
  return root;
}

/** Whether every folder above lets other users pass. */
async function isOpenAbove(path: string): Promise<boolean> {
  for (let folder = dirname(path), last = path; folder !== last; last = folder, folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
  }
  return true;
}

async function createRunDirectory(root: string): Promise<string> {
  const name = randomBytes(4).toString("hex");
  const inside = join(root, "run", name);
  const run = Buffer.byteLength(inside) <= MAX_RUN_DIRECTORY ? inside : join(tmpdir(), `platform-${name}`);
  await makeFolder(dirname(run), 0o711);
  return run;
}

/** The content of a file with mode 0600 that exactly one of several racing processes writes; a link appears whole or not at all. */
async function writeOnce(file: string, content: string): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, content, { mode: 0o600, flush: true });
  await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await unlink(temporary);
  await syncDirectory(dirname(file));
  return (await readFile(file, "utf8")).trim();
}
