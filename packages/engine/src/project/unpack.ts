import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { openPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import { hashContent } from "./content-hash.ts";
import type { ContentEntry } from "./content-hash.ts";
import { createNameRegister, findNameFault } from "./entry-names.ts";
import { DEFAULT_PROJECT_LIMITS, formatBytes, isBomb } from "./limits.ts";
import type { ProjectLimits } from "./limits.ts";
import { getMessage, getSystemCode, ProjectError } from "./project-error.ts";

/** What an archive held. */
export interface UnpackedProject {
  /** SHA-256 (hex) of names and contents, as `packProject` computes it; never taken from the sender. */
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
}

/** Every uid may read a project: the sandbox runs under one that owns nothing. */
const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/**
 * Unpacks an archive that a stranger made into `targetDirectory`, which must not exist (or be empty); its parent must exist.
 *
 * First the whole table of contents is judged, then files are written below a temporary folder beside the target, counting and
 * checking the bytes that really come out; only a complete project is renamed into place. Nothing stays behind on failure.
 * Only plain files and folders are made: links, devices and encrypted entries are refused, modes are ours.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE; an operating-system error if the target is taken or the disk is full
 */
export async function unpackProject(
  archivePath: string,
  targetDirectory: string,
  limits: Partial<ProjectLimits> = {},
): Promise<UnpackedProject> {
  const effective = { ...DEFAULT_PROJECT_LIMITS, ...limits };
  const { size } = await stat(archivePath);
  if (size > effective.archiveBytes) {
    throw createTooLarge(`The archive is larger than ${formatBytes(effective.archiveBytes)}`);
  }
  const zip = await openArchive(archivePath);
  const temporary = `${targetDirectory}.unpack-${randomBytes(6).toString("hex")}`;
  try {
    const items = await readContents(zip, size, effective);
    const entries = await writeItems(zip, items, temporary, size, effective);
    await rename(temporary, targetDirectory);
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    return { hash: hashContent(entries), files: entries.length, bytes };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  } finally {
    zip.close();
  }
}

interface Item {
  readonly entry: Entry;
  readonly path: string;
  readonly kind: "file" | "directory";
}

async function openArchive(path: string): Promise<ZipFile> {
  try {
    // Sizes are checked here, against what is really inflated, and names are not mended but judged.
    return await openPromise(path, { autoClose: false, validateEntrySizes: false, strictFileNames: true });
  } catch (error) {
    if (getSystemCode(error) !== undefined) throw error;
    throw createInvalid(`This is not a ZIP file, or it is cut off: ${getMessage(error)}`, error);
  }
}

async function readContents(
  zip: ZipFile,
  archiveBytes: number,
  limits: ProjectLimits,
): Promise<readonly Item[]> {
  if (zip.entryCount > limits.files) throw createTooMany(limits);
  const items: Item[] = [];
  const register = createNameRegister();
  let declared = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      const item = judgeEntry(entry);
      const fault = register.add(item.path, item.kind);
      if (fault !== null) throw createInvalid(`'${item.path}' ${fault}`);
      declared += entry.uncompressedSize;
      checkSizes(item.path, entry.uncompressedSize, declared, archiveBytes, limits);
      items.push(item);
    }
  } catch (error) {
    throw error instanceof ProjectError
      ? error
      : createInvalid(`The archive is damaged: ${getMessage(error)}`, error);
  }
  return items;
}

const TYPE_MASK = 0o170000;
const TYPE_FILE = 0o100000;
const TYPE_DIRECTORY = 0o040000;
const TYPE_LINK = 0o120000;
const STORED = 0;
const DEFLATED = 8;

function judgeEntry(entry: Entry): Item {
  const isDirectory = entry.fileName.endsWith("/");
  const path = isDirectory ? entry.fileName.slice(0, -1) : entry.fileName;
  const shown = JSON.stringify(entry.fileName).slice(1, -1);
  const nameFault = findNameFault(path);
  if (nameFault !== null) throw createInvalid(`'${shown}' ${nameFault}`);
  if (entry.isEncrypted()) throw createInvalid(`'${shown}' is encrypted`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw createInvalid(
      `'${shown}' is compressed by a method other than DEFLATE (${entry.compressionMethod})`,
    );
  }
  // The upper half of the attributes is the Unix mode, whichever system the header names as its maker.
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if (type === TYPE_LINK) throw createInvalid(`'${shown}' is a symbolic link`);
  if (type !== 0 && type !== (isDirectory ? TYPE_DIRECTORY : TYPE_FILE)) {
    throw createInvalid(`'${shown}' is not a plain file or folder`);
  }
  if (isDirectory && entry.uncompressedSize > 0) throw createInvalid(`'${shown}' is a folder with content`);
  return { entry, path, kind: isDirectory ? "directory" : "file" };
}

async function writeItems(
  zip: ZipFile,
  items: readonly Item[],
  root: string,
  archiveBytes: number,
  limits: ProjectLimits,
): Promise<readonly ContentEntry[]> {
  await makeDirectory(root);
  const made = new Set<string>();
  const entries: ContentEntry[] = [];
  let total = 0;
  for (const { entry, path, kind } of items) {
    await makeParents(root, kind === "directory" ? `${path}/.` : path, made);
    if (kind === "directory") continue;
    const written = await writeFile(zip, entry, join(root, path), (bytes) =>
      checkSizes(path, bytes, total + bytes, archiveBytes, limits),
    );
    total += written.bytes;
    entries.push({ path, ...written });
  }
  return entries;
}

async function makeParents(root: string, path: string, made: Set<string>): Promise<void> {
  const parent = dirname(path);
  if (parent === "." || made.has(parent)) return;
  await makeParents(root, parent, made);
  await makeDirectory(join(root, parent));
  made.add(parent);
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path);
  // The umask of the process may have taken bits away.
  await chmod(path, DIRECTORY_MODE);
}

type Written = Omit<ContentEntry, "path">;

async function writeFile(
  zip: ZipFile,
  entry: Entry,
  path: string,
  check: (bytes: number) => void,
): Promise<Written> {
  // "wx": an entry never opens, follows or overwrites what is there.
  const handle = await open(path, "wx", FILE_MODE);
  try {
    await handle.chmod(FILE_MODE);
    const meter = createMeter(entry, check);
    const source = await openEntry(zip, entry);
    try {
      await pipeline(source, meter.stream, async (chunks: AsyncIterable<Buffer>) => {
        // writeFile on an open handle goes on where the last one ended.
        for await (const chunk of chunks) await handle.writeFile(chunk);
      });
    } catch (error) {
      throw convertStreamError(entry, error);
    }
    return meter.finish();
  } finally {
    await handle.close();
  }
}

async function openEntry(zip: ZipFile, entry: Entry): ReturnType<ZipFile["openReadStreamPromise"]> {
  try {
    return await zip.openReadStreamPromise(entry);
  } catch (error) {
    throw createInvalid(`'${entry.fileName}' cannot be read: ${getMessage(error)}`, error);
  }
}

/** Inflating fails with zlib's codes (Z_DATA_ERROR); a full disk or a taken name is not the archive's fault. */
function convertStreamError(entry: Entry, error: unknown): unknown {
  if (error instanceof ProjectError) return error;
  const code = getSystemCode(error);
  if (code !== undefined && !code.startsWith("Z_") && !code.startsWith("ERR_")) return error;
  return createInvalid(`'${entry.fileName}' is damaged: ${getMessage(error)}`, error);
}

/** Stops the moment that more comes out than the header says: a lying header costs one chunk, not the disk. */
function createMeter(
  entry: Entry,
  check: (bytes: number) => void,
): { readonly stream: Transform; readonly finish: () => Written } {
  const hash = createHash("sha256");
  let bytes = 0;
  let checksum = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      try {
        check(bytes);
        if (bytes > entry.uncompressedSize)
          throw createInvalid(`'${entry.fileName}' is longer than its header says`);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      hash.update(chunk);
      checksum = zlib.crc32(chunk, checksum);
      callback(null, chunk);
    },
  });
  function finish(): Written {
    if (bytes !== entry.uncompressedSize)
      throw createInvalid(`'${entry.fileName}' is shorter than its header says`);
    if (checksum !== entry.crc32)
      throw createInvalid(`'${entry.fileName}' is damaged: its checksum is wrong`);
    return { bytes, sha256: hash.digest("hex") };
  }
  return { stream, finish };
}

function checkSizes(
  path: string,
  bytes: number,
  total: number,
  archiveBytes: number,
  limits: ProjectLimits,
): void {
  if (bytes > limits.fileBytes) {
    throw createTooLarge(`'${path}' is larger than ${formatBytes(limits.fileBytes)}, the limit for one file`);
  }
  if (total > limits.totalBytes)
    throw createTooLarge(`The project is larger than ${formatBytes(limits.totalBytes)}`);
  if (isBomb(total, archiveBytes, limits)) {
    throw createTooLarge(
      `The archive inflates to more than ${limits.ratio} times its size: refused as a ZIP bomb`,
    );
  }
}

function createTooMany(limits: ProjectLimits): ProjectError {
  return createTooLarge(`The archive has more than ${limits.files} entries`);
}

function createTooLarge(detail: string): ProjectError {
  return new ProjectError("ARCHIVE_TOO_LARGE", detail);
}

function createInvalid(detail: string, cause?: unknown): ProjectError {
  return new ProjectError("INVALID_ARCHIVE", detail, { cause });
}
