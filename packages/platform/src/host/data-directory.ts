import { randomBytes } from "node:crypto";
import { chmod, link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { geteuid } from "node:process";
import { makeFolder, syncDirectory } from "../base/files.ts";
import { StartError, describeSystemError } from "./start-error.ts";
import type { Logger } from "@platform/engine/base/logger";
import { findTemporaryFolder } from "@platform/engine/host/temporary-folder";

/** Where root keeps the data when other users cannot enter a folder above the chosen directory. */
const OPEN_PLACE = "/var/lib/platform";
const LOCATION_FILE = "location";
const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
/** The path of a socket is limited to 107 bytes, and sockets are some folders below the run directory. */
const MAX_RUN_DIRECTORY = 60;

/** Paths of the folders of one platform. Processes of one machine share all but `run`. */
export interface DataDirectory {
  readonly root: string;
  readonly postgres: string;
  readonly objects: string;
  /** Copies of objects that are stored elsewhere; made when it is used. */
  readonly objectCache: string;
  readonly versions: string;
  readonly environments: string;
  /** Sockets and temporary files of this process only. */
  readonly run: string;
}

/**
 * Creates the folders of the data directory. When the platform runs as root, PostgreSQL and the sandboxes run under other
 * uids, which must be able to reach their files. If they cannot enter a folder above, the data is kept below
 * /var/lib/platform instead, and the file `location` in the chosen directory has its path.
 *
 * @throws StartError when a folder cannot be created
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
    objectCache: join(root, "object-cache"),
    versions: join(root, "versions"),
    environments: join(root, "environments"),
    run: await createRunDirectory(root),
  };
  await makeFolder(folders.objects, 0o700);
  await makeFolder(folders.versions, 0o755);
  return folders;
}

/** What says where the data of a platform are. */
interface Place {
  readonly dataDirectory: string;
  /** Null: the embedded database is used. */
  readonly databaseUrl: string | null;
  /** Null: it is kept in the data directory. */
  readonly secret: string | null;
}

/** Checks that a platform has run here, and makes nothing. @throws StartError */
export async function requirePlatform({ dataDirectory, databaseUrl, secret }: Place): Promise<void> {
  const located = await readFile(join(dataDirectory, LOCATION_FILE), "utf8").catch(() => null);
  const root = located?.trim() ?? dataDirectory;
  const needed = [
    ...(databaseUrl === null ? [join(root, "postgres")] : []),
    ...(secret === null ? [join(root, SECRET_FILE)] : []),
  ];
  for (const path of needed) {
    const error: unknown = await stat(path).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error !== null)
      throw new StartError(
        `There is no platform in ${dataDirectory}: ${path} cannot be read. Give the settings with which the platform runs, above all --data-dir.`,
        { cause: error },
      );
  }
}

/** The platform's secret: the configured one, or a random one that is created once and stored with mode 0600. */
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

/** Whether other users can enter every folder above. */
async function isOpenAbove(path: string): Promise<boolean> {
  for (let folder = dirname(path), last = path; folder !== last; last = folder, folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
  }
  return true;
}

async function createRunDirectory(root: string): Promise<string> {
  const name = randomBytes(4).toString("hex");
  const inside = join(root, "run", name);
  const run =
    Buffer.byteLength(inside) <= MAX_RUN_DIRECTORY ? inside : join(findTemporaryFolder(), `platform-${name}`);
  await makeFolder(dirname(run), 0o711);
  return run;
}

/** Writes a file with mode 0600 unless it exists, and returns its content. Of racing processes one writes: a link is atomic. */
async function writeOnce(file: string, content: string): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flush: true });
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    // Also of a full disk, which may leave a part of it.
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(file));
  return (await readFile(file, "utf8")).trim();
}
