import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { unpackProject } from "@platform/engine/project/unpack";
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

/** The unpacked projects of one machine: a folder appears whole, by a rename, and never changes. */
export interface VersionFiles {
  /** Path of the unpacked project, unpacked once however many ask. @throws ProjectError */
  readonly ensure: (archived: ArchivedProject) => Promise<string>;
}

export function createVersionFiles(options: VersionFilesOptions): VersionFiles {
  const running = new Map<string, Promise<string>>();
  return {
    ensure: (archived) => {
      const known = running.get(archived.contentHash);
      if (known) return known;
      const unpacking = ensure(options, archived).finally(() => running.delete(archived.contentHash));
      running.set(archived.contentHash, unpacking);
      return unpacking;
    },
  };
}

async function ensure(
  options: VersionFilesOptions,
  { archiveHash, contentHash }: ArchivedProject,
): Promise<string> {
  const target = join(options.directory, contentHash);
  if (await isDirectory(target)) return target;
  await mkdir(options.directory, { recursive: true, mode: 0o755 });
  const temporary = join(options.directory, `incoming-${randomUUID()}`);
  try {
    const { hash } = await unpackProject(await options.objects.locate(archiveHash), temporary);
    if (hash !== contentHash)
      throw new Error(`The archive ${archiveHash} holds ${hash}, not ${contentHash}.`);
    await moveIntoPlace(temporary, target);
    return target;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
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
