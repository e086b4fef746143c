import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, mkdir, open, rename, rm, utimes } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { syncDirectory } from "../base/sync-directory.ts";

export interface StoredObject {
  /** SHA-256 of the content in hex: its name. */
  readonly hash: string;
  readonly bytes: number;
}

/** Content that has arrived and is not yet an object: whoever received it looks at it, then keeps or drops it. */
export interface ReceivedObject extends StoredObject {
  /** Where it lies until then. */
  readonly path: string;
  /** Makes it an object, durable when it resolves. Whatever names the object must be written afterwards, within hours. */
  readonly keep: () => Promise<void>;
  /** Removes what arrived; what was kept stays. */
  readonly drop: () => Promise<void>;
}

/** Files named by their content; the same content is stored once and never changes. */
export interface ObjectStore {
  /** @throws ObjectTooLarge beyond `limit` bytes; then nothing is left, and `content` stays open. */
  readonly receive: (content: Readable, limit: number) => Promise<ReceivedObject>;
  /** Path of the content on this machine. @throws where there is none */
  readonly locate: (hash: string) => Promise<string>;
  /** @throws where there is none */
  readonly open: (hash: string) => Promise<Readable>;
  readonly exists: (hash: string) => Promise<boolean>;
}

export class ObjectTooLarge extends Error {
  constructor(limit: number) {
    super(`The content is larger than ${limit} bytes.`);
    this.name = "ObjectTooLarge";
  }
}

const HASH = /^[0-9a-f]{64}$/;

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
    // A request that is destroyed cannot be answered any more, so the source of what is too large stays open.
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
  // The collector spares what is young; looking at a large archive may have taken a while.
  const now = new Date();
  await utimes(temporary, now, now);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
  if (created !== undefined) await syncDirectory(root);
}
