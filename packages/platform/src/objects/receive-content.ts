import { createHash, randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { makeFolder, readSpace } from "../base/files.ts";
import { ObjectTooLarge, StoreFull } from "./object-store.ts";
import type { ReceivedFile, StoredObject } from "./object-store.ts";

/** Objects are only read, also by other users of this machine who are given a link to one. */
export const FILE_MODE = 0o444;
/** Written at once: chunks of a request are small. */
const GROUP_BYTES = 1 * MEGABYTE;
/** After each so many, it is looked whether the disk has still room: several are written at once, and each may have gigabytes. */
const LOOK_BYTES = 16 * MEGABYTE;

/** Where content is written, and how much of it. */
interface Place {
  readonly folder: string;
  readonly limit: number;
  /** Of the disk; what content leaves free. */
  readonly spareBytes: number;
}

/**
 * Writes content to a new file in `folder`, which is made if it is missing; it lasts through a power cut. On failure nothing is left.
 *
 * @throws ObjectTooLarge, StoreFull
 */
export async function receiveContent(content: Readable, place: Place): Promise<ReceivedFile> {
  const { folder } = place;
  await makeFolder(folder, 0o700);
  const path = join(folder, randomUUID());
  try {
    const file = await open(path, "wx", 0o600);
    try {
      const stored = await write(content, file, place);
      // Whatever the umask is.
      await file.chmod(FILE_MODE);
      await file.sync();
      return { ...stored, path };
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw explainFull(error);
  }
}

/** StoreFull in place of the system's error that says so. */
export function explainFull(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" ? new StoreFull({ cause: error }) : error;
}

async function write(content: Readable, file: FileHandle, place: Place): Promise<StoredObject> {
  const { limit } = place;
  const digest = createHash("sha256");
  let bytes = 0;
  let group: Uint8Array[] = [];
  let grouped = 0;
  let looked = 0;
  const flush = async (): Promise<void> => {
    await writeAll(file, Buffer.concat(group, grouped));
    group = [];
    grouped = 0;
    if (bytes - looked < LOOK_BYTES) return;
    looked = bytes;
    await demandRoom(place);
  };
  // The source stays open when it is too large: a request that is destroyed cannot be answered any more.
  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    const buffer = toBuffer(chunk);
    bytes += buffer.length;
    if (bytes > limit) throw new ObjectTooLarge(limit);
    digest.update(buffer);
    group.push(buffer);
    grouped += buffer.length;
    if (grouped >= GROUP_BYTES) await flush();
  }
  await flush();
  return { hash: digest.digest("hex"), bytes };
}

async function demandRoom({ folder, spareBytes }: Place): Promise<void> {
  const { free } = await readSpace(folder);
  if (free < spareBytes) throw new StoreFull({ cause: new Error(`Only ${free} bytes are free.`) });
}

function toBuffer(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === "string") return Buffer.from(chunk);
  throw new TypeError("An object is made of bytes.");
}

async function writeAll(file: FileHandle, buffer: Uint8Array): Promise<void> {
  for (let done = 0; done < buffer.length;) done += (await file.write(buffer, done)).bytesWritten;
}
