import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { opendir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "@platform/engine/files/remove-tree";
import { tryLock } from "../base/file-lock.ts";
import { isObjectHash } from "./object-store.ts";

/*
 * The files of a cache of objects: `ab/abcd...` as in a store on a disk, and `incoming/UUID/` for what a process fetches. Several processes share
 * all of it. A process holds a lock on its folder of `incoming`, which the system releases however the process ends.
 */

const INCOMING = "incoming";
const LOCK = "lock";
const SHARD = /^[0-9a-f]{2}$/u;
/** What a file takes at least. */
const BLOCK_BYTES = 4_096;

/** An object that is cached. */
export interface CachedFile {
  readonly hash: string;
  readonly path: string;
  /** What it takes on the disk. */
  readonly bytes: number;
  /** Names of the content; more than one: something uses it, and its removal frees nothing yet. */
  readonly links: number;
  /** In milliseconds since the epoch. */
  readonly usedAt: number;
}

/** Path of an object in a cache. */
export function locateCached(directory: string, hash: string): string {
  return join(directory, hash.slice(0, 2), hash);
}

/** All that is cached, the least recently used first. */
export async function listCached(directory: string): Promise<readonly CachedFile[]> {
  const found: CachedFile[] = [];
  const shards = await readdir(directory).catch(() => []);
  for (const shard of shards.filter((name) => SHARD.test(name))) {
    for await (const { name: hash } of await opendir(join(directory, shard))) {
      if (!isObjectHash(hash)) continue;
      const path = join(directory, shard, hash);
      // Removed meanwhile.
      const file = await stat(path).catch(() => null);
      if (file === null) continue;
      const bytes = Math.max(file.size, BLOCK_BYTES);
      found.push({ hash, path, bytes, links: file.nlink, usedAt: file.atimeMs });
    }
  }
  return found.toSorted((one, other) => one.usedAt - other.usedAt);
}

/** Removes what was not used since `cutoff` (milliseconds since the epoch); returns how many. */
export async function removeUnusedCached(directory: string, cutoff: number): Promise<number> {
  const unused = (await listCached(directory)).filter(({ usedAt }) => usedAt < cutoff);
  for (const { path } of unused) await rm(path, { force: true });
  return unused.length;
}

/** A folder of this process for what it fetches. */
export interface IncomingFolder {
  readonly path: string;
  readonly close: () => Promise<void>;
}

/** Makes a folder that no other process takes for one of a process that was killed. The folder above exists. */
export function createIncoming(directory: string): IncomingFolder {
  for (;;) {
    const path = join(directory, INCOMING, randomUUID());
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(path, LOCK), "exclusive");
    // Another process has looked at it before it was locked, and removes it.
    if (lock === null) continue;
    return {
      path,
      close: async () => {
        await removeTree(path);
        lock.release();
      },
    };
  }
}

/** Removes what processes that were killed had begun to fetch; returns how many of them there were. */
export async function removeLeftovers(directory: string): Promise<number> {
  let removed = 0;
  for (const name of await readdir(join(directory, INCOMING)).catch(() => [])) {
    const path = join(directory, INCOMING, name);
    try {
      const lock = tryLock(join(path, LOCK), "exclusive");
      if (lock === null) continue;
      await removeTree(path);
      lock.release();
      removed += 1;
    } catch {
      // Its process, or another that removes it, was faster.
    }
  }
  return removed;
}
