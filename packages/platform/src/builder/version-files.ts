import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "@platform/contract/project";
import { readProject } from "@platform/engine/project/read-project";
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

export interface AcceptedProject {
  readonly contentHash: string;
  readonly project: Project;
}

/** The unpacked projects of one machine: a folder appears whole, by a rename, and never changes. */
export interface VersionFiles {
  /** Unpacks an archive and checks that it is a project. @throws ProjectError */
  readonly accept: (archiveHash: string) => Promise<AcceptedProject>;
  /** Path of the unpacked project, unpacked once however many ask. @throws ProjectError */
  readonly ensure: (archived: ArchivedProject) => Promise<string>;
}

export function createVersionFiles(options: VersionFilesOptions): VersionFiles {
  const running = new Map<string, Promise<string>>();
  return {
    accept: (archiveHash) => accept(options, archiveHash),
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
  const accepted = await accept(options, archiveHash);
  if (accepted.contentHash === contentHash) return target;
  throw new Error(`The archive ${archiveHash} holds ${accepted.contentHash}, not ${contentHash}.`);
}

async function accept(options: VersionFilesOptions, archiveHash: string): Promise<AcceptedProject> {
  const archive = await options.objects.locate(archiveHash);
  await mkdir(options.directory, { recursive: true, mode: 0o755 });
  const temporary = join(options.directory, `incoming-${randomUUID()}`);
  try {
    const { hash } = await unpackProject(archive, temporary);
    const project = await readProject(temporary);
    await moveIntoPlace(temporary, join(options.directory, hash));
    return { contentHash: hash, project };
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
