import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, rename, rm, utimes } from "node:fs/promises";
import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { geteuid } from "node:process";
import { pipeline } from "node:stream/promises";
import { getCode } from "@platform/engine/base/thrown";
import { SECOND } from "@platform/engine/base/time";
import { makeFolder } from "../base/files.ts";
import { createIncoming, listCached, locateCached, removeLeftovers } from "./cache-files.ts";
import type { IncomingFolder } from "./cache-files.ts";
import { linkOrCopy } from "./local-objects.ts";
import { ObjectDamaged, ObjectMissing, StoreUnavailable, isObjectHash } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { explainFull } from "./receive-content.ts";

/*
 * Objects of a store on another machine that this host has used last, as files that are only read.
 *
 * What is given out is a link, and stays when the cache removes its own. Content is compared with its hash when it is fetched, and again when a
 * process finds it for the first time. Whatever is wrong with the cache, an object is fetched from the store: it makes it faster, never correct.
 */

/** What a cache is opened with. */
export interface ObjectCacheOptions {
  /** On the file system of what uses the files, or else they are copied. Processes may share it. */
  readonly directory: string;
  /** What is kept at most, together; each process may keep a sixteenth more for a moment. */
  readonly maxBytes: number;
  /** Fetches from the store, and compares the content with its hash. */
  readonly fetchTo: ObjectStore["fetchTo"];
}

/** A cache of objects. */
export interface ObjectCache extends Pick<ObjectStore, "fetchTo"> {
  readonly forget: (hash: string) => Promise<void>;
  /** Removes what was used least recently until the disk has so many bytes more, as far as that is possible. Never rejects. */
  readonly giveRoom: (bytes: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Where the content of an object is, as long as somebody uses it. */
interface Source {
  readonly path: string;
  /** Not cached yet. */
  readonly isNew: boolean;
}

/** One look for an object, for all who want it at the same time. */
interface Flight {
  /** Null: the cache cannot be used. */
  readonly source: Promise<Source | null>;
  users: number;
  /** Set when the last of them has it. */
  settled: Promise<void> | null;
}

interface Cache extends ObjectCacheOptions {
  readonly flights: Map<string, Flight>;
  /** By hash, what a file looked like whose content was compared with it. */
  readonly trusted: Map<string, string>;
  /** Null: nothing was fetched yet, or it could not be made. */
  incoming: Promise<IncomingFolder> | null;
  /** Bytes since the files were listed last. */
  added: number;
  trimming: Promise<void>;
  /** What is being fetched. */
  readonly running: Set<Promise<void>>;
}

/** Part of the limit that is added before the files are listed again, and removed beyond what has to be. */
const STEP = 1 / 16;
const READ_ONLY = 0o444;

/** Removes first what processes that were killed have left. */
export async function openObjectCache(options: ObjectCacheOptions): Promise<ObjectCache> {
  const cache: Cache = {
    ...options,
    flights: new Map(),
    trusted: new Map(),
    incoming: null,
    // So that the first object has them listed.
    added: options.maxBytes,
    trimming: Promise.resolve(),
    running: new Set(),
  };
  await removeLeftovers(options.directory);
  return {
    fetchTo: async (hash, path) => {
      const fetching = fetchTo(cache, hash, path);
      cache.running.add(fetching);
      try {
        await fetching;
      } finally {
        cache.running.delete(fetching);
      }
    },
    forget: (hash) =>
      isObjectHash(hash) ? rm(locateCached(cache.directory, hash), { force: true }) : Promise.resolve(),
    giveRoom: (bytes) => giveRoom(cache, bytes).catch(() => undefined),
    close: async () => {
      await Promise.allSettled(cache.running);
      await cache.trimming;
      await (await cache.incoming?.catch(() => null))?.close();
    },
  };
}

/** The store, with files from the cache. */
export function withCache<T extends ObjectStore>(store: T, cache: ObjectCache): T {
  return {
    ...store,
    fetchTo: cache.fetchTo,
    remove: async (hash) => {
      await cache.forget(hash);
      await store.remove(hash);
    },
  };
}

async function fetchTo(cache: Cache, hash: string, path: string): Promise<void> {
  if (!isObjectHash(hash)) throw new ObjectMissing(hash);
  const flight = await board(cache, hash);
  try {
    const source = await flight.source;
    if (source !== null && (await give(source.path, path))) return;
  } finally {
    flight.users -= 1;
    if (flight.users === 0) {
      flight.settled = settle(cache, hash, flight);
      await flight.settled;
    }
  }
  await cache.fetchTo(hash, path);
}

async function board(cache: Cache, hash: string): Promise<Flight> {
  for (;;) {
    const flight = cache.flights.get(hash) ?? begin(cache, hash);
    if (flight.settled === null) {
      flight.users += 1;
      return flight;
    }
    await flight.settled;
  }
}

function begin(cache: Cache, hash: string): Flight {
  const flight: Flight = { source: findSource(cache, hash), users: 0, settled: null };
  cache.flights.set(hash, flight);
  return flight;
}

/** Null: the cache cannot be used, since its disk is full or fails. @throws ObjectMissing, ObjectDamaged, StoreUnavailable */
async function findSource(cache: Cache, hash: string): Promise<Source | null> {
  const path = await findCached(cache, hash).catch(() => null);
  if (path !== null) return { path, isNew: false };
  try {
    const incoming = await (cache.incoming ??= openIncoming(cache));
    const fetched = join(incoming.path, randomUUID());
    await cache.fetchTo(hash, fetched);
    return { path: fetched, isNew: true };
  } catch (error) {
    const isOfStore =
      error instanceof ObjectMissing || error instanceof ObjectDamaged || error instanceof StoreUnavailable;
    if (isOfStore) throw error;
    await giveRoom(cache, Infinity).catch(() => undefined);
    return null;
  }
}

async function openIncoming(cache: Cache): Promise<IncomingFolder> {
  try {
    await makeFolder(cache.directory, 0o700);
    return createIncoming(cache.directory);
  } catch (error) {
    cache.incoming = null;
    throw error;
  }
}

/** Path of the object; null where it is not cached, or what is there is not its content. It counts as used now. */
async function findCached({ directory, trusted }: Cache, hash: string): Promise<string | null> {
  const path = locateCached(directory, hash);
  const file = await lstat(path).catch((error: unknown) => {
    if (getCode(error) === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  const looks = describe(file);
  if (!isOwnAndReadOnly(file) || (trusted.get(hash) !== looks && (await hashFile(path)) !== hash)) {
    await rm(path, { force: true });
    return null;
  }
  trusted.set(hash, looks);
  await utimes(path, new Date(), file.mtime);
  return path;
}

/** Others could have changed it since. */
function isOwnAndReadOnly(file: Stats): boolean {
  return file.isFile() && file.uid === geteuid?.() && (file.mode & 0o777) === READ_ONLY;
}

/** Without the time of its last use. */
function describe({ dev, ino, size, mtimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs].join(" ");
}

async function hashFile(path: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path), digest);
  return digest.digest("hex");
}

/** False: it has gone from the cache meanwhile. */
async function give(source: string, path: string): Promise<boolean> {
  try {
    await linkOrCopy(source, path);
    return true;
  } catch (error) {
    if (getCode(error) === "ENOENT") return false;
    throw explainFull(error);
  }
}

/** Never rejects. */
async function settle(cache: Cache, hash: string, { source }: Flight): Promise<void> {
  const found = await source.catch(() => null);
  try {
    if (found?.isNew === true) await admit(cache, hash, found.path);
  } catch {
    await rm(found?.path ?? "", { force: true }).catch(() => undefined);
  } finally {
    cache.flights.delete(hash);
  }
}

/** Moves a new file to where objects are found, unless it is too large. */
async function admit(cache: Cache, hash: string, path: string): Promise<void> {
  const { size } = await lstat(path);
  if (size > cache.maxBytes * (1 - STEP)) return await rm(path);
  const place = locateCached(cache.directory, hash);
  await makeFolder(dirname(place), 0o700);
  // A whole second, which stays the same when the time of its use is set.
  await utimes(path, new Date(), Math.floor(Date.now() / SECOND));
  cache.trusted.set(hash, describe(await lstat(path)));
  await rename(path, place);
  cache.added += size;
  if (cache.added > cache.maxBytes * STEP) cache.trimming = cache.trimming.then(() => trim(cache));
}

/** Removes what was used least recently, down to a step below the limit. Never rejects. */
async function trim(cache: Cache): Promise<void> {
  cache.added = 0;
  try {
    const files = await listCached(cache.directory);
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { path, bytes } of files) {
      if (total <= cache.maxBytes * (1 - STEP)) break;
      await rm(path, { force: true });
      total -= bytes;
    }
    const hashes = new Set(files.map(({ hash }) => hash));
    for (const hash of cache.trusted.keys()) if (!hashes.has(hash)) cache.trusted.delete(hash);
  } catch {
    // The next object has it tried again.
    cache.added = cache.maxBytes;
  }
}

async function giveRoom({ directory }: Cache, bytes: number): Promise<void> {
  let freed = 0;
  for (const file of await listCached(directory)) {
    if (freed >= bytes) return;
    // What is used keeps its place on the disk.
    if (file.links > 1) continue;
    await rm(file.path, { force: true });
    freed += file.bytes;
  }
}
