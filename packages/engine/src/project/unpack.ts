import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { openArchive } from "./archive.ts";
import type { Archive, ArchiveItem } from "./archive.ts";
import { hashContent } from "./content-hash.ts";
import type { ContentEntry } from "./content-hash.ts";
import type { ProjectLimits } from "./limits.ts";
import { syncTree } from "../files/sync-tree.ts";

/** The content of an unpacked archive. */
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
 * Unpacks an untrusted archive into `targetDirectory`, which must not exist (or be empty); its parent must exist.
 *
 * First the whole table of contents is checked. Then files are written below a temporary folder beside the target, counting and
 * checking the bytes that are actually unpacked; only a complete project is renamed into place. Nothing is left behind on failure.
 * Only plain files and folders are created: links, devices and encrypted entries are refused, and the modes in the archive are ignored.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE; an operating-system error if the target is taken or the disk is full
 */
export async function unpackProject(
  archivePath: string,
  targetDirectory: string,
  limits: Partial<ProjectLimits> = {},
): Promise<UnpackedProject> {
  const archive = await openArchive(archivePath, limits);
  const temporary = `${targetDirectory}.unpack-${randomBytes(6).toString("hex")}`;
  try {
    const entries = await writeItems(archive, temporary);
    // The rename publishes it: after a power failure it must not lead to empty files.
    await syncTree(temporary);
    await rename(temporary, targetDirectory);
    return summarize(entries);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  } finally {
    archive.close();
  }
}

/**
 * Reads an archive as `unpackProject` does, with the same checks and the same result, and writes nothing.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE
 */
export async function hashArchive(
  archivePath: string,
  limits: Partial<ProjectLimits> = {},
): Promise<UnpackedProject> {
  const archive = await openArchive(archivePath, limits);
  try {
    const entries: ContentEntry[] = [];
    for (const item of archive.items) {
      if (item.kind === "file") entries.push(await archive.read(item, discard));
    }
    return summarize(entries);
  } finally {
    archive.close();
  }
}

/**
 * Whether a folder contains every file of an archive, with its size and checksum. A power failure can leave empty files behind; files
 * that are not in the archive are ignored.
 *
 * @throws ProjectError INVALID_ARCHIVE, ARCHIVE_TOO_LARGE
 */
export async function isUnpacked(archivePath: string, directory: string): Promise<boolean> {
  const archive = await openArchive(archivePath);
  try {
    for (const { entry, path, kind } of archive.items) {
      if (kind !== "file") continue;
      const found = await readChecksum(join(directory, path)).catch(() => null);
      if (found?.bytes !== entry.uncompressedSize || found.checksum !== entry.crc32) return false;
    }
    return true;
  } finally {
    archive.close();
  }
}

async function readChecksum(path: string): Promise<{ readonly bytes: number; readonly checksum: number }> {
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    checksum = crc32(chunk, checksum);
  }
  return { bytes, checksum };
}

async function discard(chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) void chunk;
}

function summarize(entries: readonly ContentEntry[]): UnpackedProject {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return { hash: hashContent(entries), files: entries.length, bytes };
}

async function writeItems(archive: Archive, root: string): Promise<readonly ContentEntry[]> {
  await makeDirectory(root);
  const made = new Set<string>();
  const entries: ContentEntry[] = [];
  for (const item of archive.items) {
    // The hash does not cover folders without files, so none are created: the unpacked folder is shared by all archives of this hash.
    if (item.kind === "directory") continue;
    await makeParents(root, item.path, made);
    entries.push(await writeFile(archive, item, root));
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
  // The umask of the process may have removed bits.
  await chmod(path, DIRECTORY_MODE);
}

async function writeFile(archive: Archive, item: ArchiveItem, root: string): Promise<ContentEntry> {
  // "wx": an entry never opens, follows or overwrites what is there.
  const handle = await open(join(root, item.path), "wx", FILE_MODE);
  try {
    await handle.chmod(FILE_MODE);
    return await archive.read(item, async (chunks) => {
      // writeFile on an open handle continues where the previous one ended.
      for await (const chunk of chunks) await handle.writeFile(chunk);
    });
  } finally {
    await handle.close();
  }
}
