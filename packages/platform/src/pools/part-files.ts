import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, open, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { HOUR } from "@platform/engine/base/time";
import { getCode } from "@platform/engine/base/thrown";
import { isUuid } from "@platform/engine/base/uuid";
import { makeFolder, syncDirectory } from "../base/files.ts";
import { explainFull } from "../objects/receive-content.ts";
import type { UploadPart, UploadStore } from "../store/pools/uploads.ts";

/** The folder of parts, below that of the objects: what has become whole is moved, not copied. */
export const PARTS = "uploads";

const PLACE = "place";
/** A part is named in the database after it was made. */
const UNNAMED_FOR = 1 * HOUR;
/** Asked for by one statement. */
const ASKED = 1_000;

/** A part of an upload is not what the database says: the folder was changed or restored. */
export class PartLost extends Error {}

/** Which folder this is: a random id that stays. The first process of a machine makes it. @throws StoreFull */
export async function readPlace(folder: string): Promise<string> {
  const path = join(folder, PLACE);
  const known = await readFile(path, "utf8").catch(() => null);
  if (known !== null && isUuid(known)) return known;
  return await makePlace(folder, path).catch((error: unknown) => {
    throw explainFull(error);
  });
}

async function makePlace(folder: string, path: string): Promise<string> {
  await makeFolder(folder, 0o700);
  const temporary = join(folder, randomUUID());
  await writeFile(temporary, randomUUID(), { mode: 0o600, flush: true });
  await link(temporary, path).catch((error: unknown) => {
    if (getCode(error) !== "EEXIST") throw error;
  });
  await rm(temporary);
  await syncDirectory(folder);
  return (await readFile(path, "utf8")).trim();
}

/** A new part, whose name lasts. @throws StoreFull */
export async function createPart(folder: string, name: string): Promise<FileHandle> {
  try {
    await makeFolder(folder, 0o700);
    const file = await open(join(folder, name), "wx", 0o600);
    await syncDirectory(folder).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return file;
  } catch (error) {
    throw explainFull(error);
  }
}

/** The part, cut behind what is known to last. @throws PartLost */
export async function openPart(folder: string, name: string, bytes: number): Promise<FileHandle> {
  const file = await open(join(folder, name), "r+").catch((error: unknown) => {
    throw getCode(error) === "ENOENT" ? new PartLost(`The part ${name} is missing.`) : error;
  });
  try {
    const { size } = await file.stat();
    if (size < bytes) throw new PartLost(`The part ${name} has ${size} bytes and not ${bytes}.`);
    if (size > bytes) await file.truncate(bytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The content that the parts have together. */
export function readParts(folder: string, parts: readonly UploadPart[], bytes: number): Readable {
  return Readable.from(chunksOf(folder, parts, bytes));
}

async function* chunksOf(folder: string, parts: readonly UploadPart[], bytes: number) {
  for (const [index, { file, start }] of parts.entries()) {
    const length = (parts[index + 1]?.start ?? bytes) - start;
    if (length > 0)
      yield* createReadStream(join(folder, file), { end: length - 1, highWaterMark: 1 * MEGABYTE });
  }
}

/**
 * SHA-256 of a part in hex. All of it is read into the same memory: a stream takes new memory for each piece, and of 2 GB the process had
 * grown by 73 MB before that was collected, instead of by 5 (2026-11-24).
 */
export async function hashPart(folder: string, name: string): Promise<string> {
  const digest = createHash("sha256");
  const piece = Buffer.allocUnsafe(1 * MEGABYTE);
  const file = await open(join(folder, name));
  try {
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) return digest.digest("hex");
      digest.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Removes parts; those that are missing are no fault. */
export async function removeParts(folder: string, parts: readonly UploadPart[]): Promise<void> {
  await Promise.all(parts.map(({ file }) => rm(join(folder, file), { force: true })));
}

/** Removes parts that no open upload has, of expired uploads above all; returns how many. */
export async function sweepParts(
  folder: string,
  uploads: Pick<UploadStore, "findNeeded">,
  now = Date.now(),
): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter(isUuid);
  let removed = 0;
  for (let from = 0; from < names.length; from += ASKED) {
    const asked = names.slice(from, from + ASKED);
    const needed = await uploads.findNeeded(asked);
    for (const name of asked.filter((each) => !needed.has(each)))
      if (await removeOld(join(folder, name), now)) removed += 1;
  }
  return removed;
}

async function removeOld(path: string, now: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null || now - found.mtimeMs < UNNAMED_FOR) return false;
  await rm(path, { force: true });
  return true;
}
