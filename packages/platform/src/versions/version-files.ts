import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isUnpacked, unpackProject } from "@platform/engine/project/unpack";
import { syncDirectory } from "../base/files.ts";
import type { Objects } from "../objects/object-store.ts";

/** Where projects are unpacked from and to. */
export interface VersionFilesOptions {
  /** Has one folder for each content hash; the sandbox's user must be able to reach it. */
  readonly directory: string;
  readonly objects: Objects;
}

/** A project's archive and its content; two archives may have the same content. */
export interface ArchivedProject {
  /** Names the archive in the object store. */
  readonly archiveHash: string;
  /** SHA-256 over names and contents of the files. */
  readonly contentHash: string;
}

/**
 * The unpacked projects of one machine. A folder appears complete, by a rename, and never changes. Each process compares a
 * folder that it finds with the archive once before it uses it: a disk that failed or was full may have left it incomplete.
 */
export interface VersionFiles {
  /** Path of the unpacked project; concurrent calls unpack it once. @throws ProjectError */
  readonly ensure: (archived: ArchivedProject) => Promise<string>;
}

/** Unpacks projects when they are first needed. */
export function createVersionFiles(options: VersionFilesOptions): VersionFiles {
  const running = new Map<string, Promise<string>>();
  const verified = new Set<string>();
  return {
    ensure: (archived) => {
      const known = running.get(archived.contentHash);
      if (known) return known;
      const unpacking = ensure(options, archived, verified).finally(() =>
        running.delete(archived.contentHash),
      );
      running.set(archived.contentHash, unpacking);
      return unpacking;
    },
  };
}

async function ensure(
  options: VersionFilesOptions,
  { archiveHash, contentHash }: ArchivedProject,
  verified: Set<string>,
): Promise<string> {
  const target = join(options.directory, contentHash);
  const isThere = await touch(target);
  if (isThere && verified.has(contentHash)) return target;
  await withArchive(options, archiveHash, async (archive) => {
    if (isThere && (await isUnpacked(archive, target))) return;
    if (isThere) await removeAside(options.directory, target);
    await unpack(options.directory, archive, contentHash);
  });
  verified.add(contentHash);
  return target;
}

/** The archive as a file, in a folder of its own that only this user can enter: what is unpacked can be read by all. */
async function withArchive(
  { directory, objects }: VersionFilesOptions,
  hash: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const folder = nameIncoming(directory);
  await mkdir(folder, { mode: 0o700 });
  try {
    const archive = join(folder, "archive");
    await objects.fetchTo(hash, archive);
    await use(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Marks the folder as used, before it is, so that garbage collection keeps it (remove-unused.ts). False: there is none. */
async function touch(target: string): Promise<boolean> {
  const now = new Date();
  return utimes(target, now, now).then(
    () => true,
    () => false,
  );
}

async function removeAside(directory: string, target: string): Promise<void> {
  const aside = nameIncoming(directory);
  await rename(target, aside).catch(() => undefined);
  await rm(aside, { recursive: true, force: true });
}

async function unpack(directory: string, archive: string, contentHash: string): Promise<void> {
  const temporary = nameIncoming(directory);
  try {
    const { hash } = await unpackProject(archive, temporary);
    if (hash !== contentHash) throw new Error(`The archive holds ${hash}, not ${contentHash}.`);
    await moveIntoPlace(temporary, join(directory, contentHash));
    await syncDirectory(directory);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

function nameIncoming(directory: string): string {
  return join(directory, `incoming-${randomUUID()}`);
}

/** When another process has put the same content there already, the own copy is removed. */
async function moveIntoPlace(temporary: string, target: string): Promise<void> {
  try {
    await rename(temporary, target);
  } catch (error) {
    if (!(await isDirectory(target))) throw error;
    await rm(temporary, { recursive: true, force: true });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
