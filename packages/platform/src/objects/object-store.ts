import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, mkdir, open, rename, rm, utimes } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { syncDirectory } from "../base/files.ts";

/** Content that is named by its hash. */
interface StoredObject {
  /** SHA-256 of the content in hex: its name. */
  readonly hash: string;
  /** Size. */
  readonly bytes: number;
}

/** Content that was received but is not an object yet: its receiver checks it, then keeps or drops it. */
export interface ReceivedObject extends StoredObject {
  /** Path of the temporary file. */
  readonly path: string;
  /** Makes it an object, durable when it resolves. The row that names it must be written afterwards, within hours. */
  readonly keep: () => Promise<void>;
  /** Removes the temporary file; an object that was kept stays. */
  readonly drop: () => Promise<void>;
}

/** Files named by their content: equal content is stored once, and an object never changes. */
export interface ObjectStore {
  /** Stores content of at most `limit` bytes. @throws ObjectTooLarge; then nothing is stored, and `content` stays open */
  readonly receive: (content: Readable, limit: number) => Promise<ReceivedObject>;
  /** Path of an object on this machine. @throws a system error when there is none */
  readonly locate: (hash: string) => Promise<string>;
  /** The content of an object. @throws a system error when there is none */
  readonly open: (hash: string) => Promise<Readable>;
  readonly exists: (hash: string) => Promise<boolean>;
}

/** The content exceeds the limit of `receive`. */
export class ObjectTooLarge extends Error {
  constructor(limit: number) {
    super(`The content is larger than ${limit} bytes.`);
    this.name = "ObjectTooLarge";
  }
}

const HASH = /^[0-9a-f]{64}$/;

/** An object store in a folder, with two levels: `ab/abcd...`. */
export function createObjectStore(directory: string): ObjectStore {
  const pathOf = (hash: string): string => {
    if (!HASH.test(hash)) throw new Error("An object is named by a SHA-256 in hex.");
    return join(directory, hash.slice(0, 2), hash);
  };
  const locate = async (hash: string): Promise<string> => {
    const path = pathOf(hash);
    await access(path);
    return path;
  };
  return {
    receive: async (content, limit) => {
      const incoming = join(directory, "incoming");
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      const path = join(incoming, randomUUID());
      const drop = () => rm(path, { force: true });
      try {
        const stored = await write(content, path, limit);
        let kept: Promise<void> | null = null;
        const keep = () => (kept ??= moveIntoPlace(path, pathOf(stored.hash), directory));
        return { ...stored, path, keep, drop };
      } catch (error) {
        await drop();
        throw error;
      }
    },
    locate,
    open: async (hash) => createReadStream(await locate(hash)),
    exists: async (hash) => {
      try {
        await locate(hash);
        return true;
      } catch {
        return false;
      }
    },
  };
}

async function write(content: Readable, path: string, limit: number): Promise<StoredObject> {
  const digest = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "wx", 0o600);
  try {
    // The source stays open when it is too large: a request that is destroyed cannot be answered any more.
    for await (const chunk of content.iterator({ destroyOnReturn: false })) {
      const buffer = toBuffer(chunk);
      bytes += buffer.length;
      if (bytes > limit) throw new ObjectTooLarge(limit);
      digest.update(buffer);
      await writeAll(file, buffer);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { hash: digest.digest("hex"), bytes };
}

function toBuffer(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === "string") return Buffer.from(chunk);
  throw new TypeError("An object is made of bytes.");
}

async function writeAll(file: FileHandle, buffer: Uint8Array): Promise<void> {
  for (let done = 0; done < buffer.length;) done += (await file.write(buffer, done)).bytesWritten;
}

async function moveIntoPlace(temporary: string, path: string, root: string): Promise<void> {
  const created = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // The garbage collector keeps young files; checking a large archive may have taken a while.
  const now = new Date();
  await utimes(temporary, now, now);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
  if (created !== undefined) await syncDirectory(root);
}
