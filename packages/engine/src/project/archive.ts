import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { openPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import { getCode, getMessage } from "../base/thrown.ts";
import { MEGABYTE } from "../base/bytes.ts";
import type { ContentEntry } from "./content-hash.ts";
import { createNameRegister, findNameFault } from "./entry-names.ts";
import { DEFAULT_PROJECT_LIMITS, formatBytes, isBomb } from "./limits.ts";
import type { ProjectLimits } from "./limits.ts";
import { ProjectError } from "./project-error.ts";

/** One entry of an archive whose table of contents was checked. */
export interface ArchiveItem {
  readonly entry: Entry;
  readonly path: string;
  readonly kind: "file" | "directory";
}

/** An untrusted archive whose table of contents was checked. The unpacked bytes are counted and checked while they are read. */
export interface Archive {
  readonly items: readonly ArchiveItem[];
  /** Streams one file into `sink`. @throws ProjectError when size or checksum differ from the table of contents */
  readonly read: (item: ArchiveItem, sink: Sink) => Promise<ContentEntry>;
  readonly close: () => void;
}

/** Consumes the unpacked bytes of one file; rejects to stop reading. */
type Sink = (chunks: AsyncIterable<Buffer>) => Promise<void>;

/** Bytes of names, comments and extra fields of all entries together, which are in memory while the archive is open. */
const MAX_TABLE_BYTES = 16 * MEGABYTE;

/**
 * Opens an archive and checks its whole table of contents before anything is inflated.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE
 */
export async function openArchive(path: string, limits: Partial<ProjectLimits> = {}): Promise<Archive> {
  const effective = { ...DEFAULT_PROJECT_LIMITS, ...limits };
  const { size } = await stat(path);
  if (size > effective.archiveBytes) {
    throw createTooLarge(`The archive is larger than ${formatBytes(effective.archiveBytes)}.`);
  }
  const zip = await openZip(path);
  try {
    const items = await readContents(zip, size, effective);
    let total = 0;
    return {
      items,
      read: async ({ entry, path: name }, sink) => {
        const check = (bytes: number) =>
          checkSizes(name, { bytes, total: total + bytes, archive: size }, effective);
        const read = await readEntry(zip, entry, check, sink);
        total += read.bytes;
        return { path: name, ...read };
      },
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

type Read = Omit<ContentEntry, "path">;

async function readEntry(
  zip: ZipFile,
  entry: Entry,
  check: (bytes: number) => void,
  sink: Sink,
): Promise<Read> {
  const meter = createMeter(entry, check);
  const source = await openEntry(zip, entry);
  try {
    await pipeline(source, meter.stream, sink);
  } catch (error) {
    throw convertStreamError(entry, error);
  }
  return meter.finish();
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    // Sizes are checked in this file, against the bytes that are actually inflated; names are checked and never corrected.
    return await openPromise(path, { autoClose: false, validateEntrySizes: false, strictFileNames: true });
  } catch (error) {
    if (getCode(error) !== undefined) throw error;
    throw createInvalid(`This is not a ZIP file, or it is cut off: ${getMessage(error)}`, error);
  }
}

async function readContents(
  zip: ZipFile,
  archiveBytes: number,
  limits: ProjectLimits,
): Promise<readonly ArchiveItem[]> {
  if (zip.entryCount > limits.files) throw createTooMany(limits);
  const items: ArchiveItem[] = [];
  const register = createNameRegister();
  let declared = 0;
  let table = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      table += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      if (table > MAX_TABLE_BYTES) throw createTooLarge("The archive's table of contents is too large.");
      const item = judgeEntry(entry);
      const fault = register(item.path, item.kind);
      if (fault !== null) throw createInvalid(`'${item.path}' ${fault}.`);
      declared += entry.uncompressedSize;
      checkSizes(
        item.path,
        { bytes: entry.uncompressedSize, total: declared, archive: archiveBytes },
        limits,
      );
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

function judgeEntry(entry: Entry): ArchiveItem {
  const isDirectory = entry.fileName.endsWith("/");
  const path = isDirectory ? entry.fileName.slice(0, -1) : entry.fileName;
  const shown = JSON.stringify(entry.fileName).slice(1, -1);
  const nameFault = findNameFault(path);
  const fault = nameFault ?? findEntryFault(entry, isDirectory);
  if (fault !== null) throw createInvalid(`'${shown}' ${fault}.`);
  return { entry, path, kind: isDirectory ? "directory" : "file" };
}

/** Why an entry is refused regardless of its name, as the end of a sentence; null when it is accepted. */
function findEntryFault(entry: Entry, isDirectory: boolean): string | null {
  if (entry.isEncrypted()) return "is encrypted";
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return `is compressed by a method other than DEFLATE (${entry.compressionMethod})`;
  // The upper half of the attributes is the Unix mode, whichever system the header names as its origin.
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if (type === TYPE_LINK) return "is a symbolic link";
  if (type !== 0 && type !== (isDirectory ? TYPE_DIRECTORY : TYPE_FILE))
    return "is not a plain file or folder";
  return isDirectory && entry.uncompressedSize > 0 ? "is a folder with content" : null;
}

async function openEntry(zip: ZipFile, entry: Entry): ReturnType<ZipFile["openReadStreamPromise"]> {
  try {
    return await zip.openReadStreamPromise(entry);
  } catch (error) {
    throw createInvalid(`'${entry.fileName}' cannot be read: ${getMessage(error)}`, error);
  }
}

/** Inflating fails with zlib's codes (Z_DATA_ERROR). A full disk or an existing file is not a defect of the archive. */
function convertStreamError(entry: Entry, error: unknown): unknown {
  if (error instanceof ProjectError) return error;
  const code = getCode(error);
  if (code !== undefined && !code.startsWith("Z_") && !code.startsWith("ERR_")) return error;
  return createInvalid(`'${entry.fileName}' is damaged: ${getMessage(error)}`, error);
}

/** Stops as soon as more bytes come out than the header declares: a false header costs one chunk, not the disk. */
function createMeter(
  entry: Entry,
  check: (bytes: number) => void,
): { readonly stream: Transform; readonly finish: () => Read } {
  const hash = createHash("sha256");
  let bytes = 0;
  let checksum = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      try {
        check(bytes);
        if (bytes > entry.uncompressedSize)
          throw createInvalid(`'${entry.fileName}' is longer than its header says.`);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      hash.update(chunk);
      checksum = zlib.crc32(chunk, checksum);
      callback(null, chunk);
    },
  });
  function finish(): Read {
    if (bytes !== entry.uncompressedSize)
      throw createInvalid(`'${entry.fileName}' is shorter than its header says.`);
    if (checksum !== entry.crc32)
      throw createInvalid(`'${entry.fileName}' is damaged: its checksum is wrong.`);
    return { bytes, sha256: hash.digest("hex") };
  }
  return { stream, finish };
}

/** In bytes. */
interface Sizes {
  /** Of this file so far, unpacked. */
  readonly bytes: number;
  /** Of all files so far, unpacked. */
  readonly total: number;
  /** Of the archive itself. */
  readonly archive: number;
}

function checkSizes(path: string, { bytes, total, archive }: Sizes, limits: ProjectLimits): void {
  if (bytes > limits.fileBytes) {
    throw createTooLarge(
      `'${path}' is larger than ${formatBytes(limits.fileBytes)}, the limit for one file.`,
    );
  }
  if (total > limits.totalBytes)
    throw createTooLarge(`The project is larger than ${formatBytes(limits.totalBytes)}.`);
  if (isBomb(total, archive, limits)) {
    throw createTooLarge(
      `The archive inflates to more than ${limits.ratio} times its size: refused as a ZIP bomb.`,
    );
  }
}

function createTooMany(limits: ProjectLimits): ProjectError {
  return createTooLarge(`The archive has more than ${limits.files} entries.`);
}

function createTooLarge(detail: string): ProjectError {
  return new ProjectError("ARCHIVE_TOO_LARGE", detail);
}

function createInvalid(detail: string, cause?: unknown): ProjectError {
  return new ProjectError("INVALID_ARCHIVE", detail, { cause });
}
