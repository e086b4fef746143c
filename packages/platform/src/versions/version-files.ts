import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isUnpacked, unpackProject } from "@platform/engine/project/unpack";
import { syncDirectory } from "../base/sync-directory.ts";
import type { ObjectStore } from "../objects/object-store.ts";

export interface VersionFilesOptions {
  /** Holds one folder for each content hash; the way to it must be open to the sandbox's user. */
  readonly directory: string;
  readonly objects: ObjectStore;
}

/** A project's archive and what is in it; two archives can hold the same. */
export interface ArchivedProject {
  /** Names the archive in the object store. */
  readonly archiveHash: string;
  /** SHA-256 over names and contents of the files. */
  readonly contentHash: string;
}

/**
 * The unpacked projects of one machine: a folder appears whole, by a rename, and never changes. This process believes in one that it
 * finds only after it has compared it with the archive once: a disk that failed or filled up leaves folders with half a project.
 */
export interface VersionFiles {
  /** Path of the unpacked project, unpacked once however many ask. @throws ProjectError */
  readonly ensure: (archived: ArchivedProject) => Promise<string>;
}

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
  const archive = await options.objects.locate(archiveHash);
  if (!isThere || !(await isUnpacked(archive, target))) {
    if (isThere) await removeAside(options.directory, target);
    await unpack(options.directory, archive, contentHash);
  }
  verified.add(contentHash);
  return target;
}

/** Whether it is there; said before it is relied on, the collector spares what is used (remove-unused.ts). */
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
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const temporary = nameIncoming(directory);
  try {
    const { hash } = await unpackProject(archive, temporary);
    if (hash !== contentHash) throw new Error(`The archive ${archive} holds ${hash}, not ${contentHash}.`);
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

/** Whoever comes second finds the same content there and throws its own away. */
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
