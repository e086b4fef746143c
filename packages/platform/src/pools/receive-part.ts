import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { KILOBYTE, MEGABYTE } from "@platform/engine/base/bytes";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { readUntil } from "@platform/engine/base/read-until";
import { SECOND } from "@platform/engine/base/time";
import { explainFull } from "../objects/receive-content.ts";
import { LEAST_PACE, refuseSlowPart, watchPace } from "./part-pace.ts";
import type { PartPace } from "./part-pace.ts";

/** The sum that a client gives of a part. */
export interface PartSum {
  readonly algorithm: "sha1" | "sha256";
  /** In base64. */
  readonly value: string;
}

/** What a part is received into. */
export interface PartTarget {
  readonly file: FileHandle;
  /** Of the first byte, in the file. */
  readonly position: number;
  /** So much is missing of the upload; none behind it is written. */
  readonly limit: number;
  readonly sum: PartSum | null;
  /** Hears all bytes that are written, in their order; null: nobody. */
  readonly digest: Hash | null;
  /** So many bytes of this part last. Rejects where the part has to end. */
  readonly onLasting: (bytes: number) => Promise<void>;
  /** Ends the part: what does not last yet is dropped. */
  readonly signal: AbortSignal;
  /** Ends the part: what came counts. */
  readonly yielding?: AbortSignal;
  readonly pace?: PartPace;
}

/** The part has more than is missing of the upload. */
export class PartTooLong extends Error {}

/** The part has another sum; nothing of it counts. */
export class PartDamaged extends Error {}

/** Written at once: chunks of a request are small. */
const GROUP_BYTES = 1 * MEGABYTE;
/** Room for a group, and what a chunk has beyond it. */
const PIECE_BYTES = GROUP_BYTES + 64 * KILOBYTE;
/** What a killed process loses at most: so much, or what came in so much time. */
const LASTING_BYTES = 16 * MEGABYTE;
const LASTING_EVERY = 5 * SECOND;

/**
 * Writes a part while it comes, and makes it last from time to time; with a sum, at its end only. What has come of a part that breaks off
 * counts, unless it has a sum.
 *
 * @throws PartTooLong, PartDamaged, StoreFull, Problem UNAVAILABLE of a slow sender, the reason of a signal, the failure of the content
 */
export async function receivePart(content: Readable, target: PartTarget): Promise<void> {
  const pace = watchPace(target.pace ?? LEAST_PACE, refuseSlowPart);
  try {
    await receive(content, target, pace);
  } finally {
    pace.close();
  }
}

async function receive(
  content: Readable,
  target: PartTarget,
  pace: ReturnType<typeof watchPace>,
): Promise<void> {
  const { sum, signal, yielding } = target;
  const writer = createWriter(target);
  const digest = sum === null ? null : createHash(sum.algorithm);
  const ending = AbortSignal.any([signal, pace.signal, ...(yielding === undefined ? [] : [yielding])]);
  // The source stays open: a request that is destroyed cannot be answered any more.
  const chunks = readUntil(content, ending);
  let bytes = 0;
  try {
    for (;;) {
      pace.wait();
      const { value: chunk } = await chunks.next().catch(async (error: unknown) => {
        // The sender has gone, perhaps for good: what came counts.
        if (sum === null && !signal.aborted) await writer.finish();
        throw error;
      });
      if (chunk === undefined) break;
      if (!(chunk instanceof Uint8Array)) throw new TypeError("A part is made of bytes.");
      pace.came(chunk.length);
      bytes += chunk.length;
      if (bytes > target.limit) throw new PartTooLong();
      digest?.update(chunk);
      await writer.write(chunk);
    }
  } finally {
    await chunks.return(undefined);
  }
  if (sum !== null && digest?.digest("base64") !== sum.value) throw new PartDamaged();
  await writer.finish();
}

interface Writer {
  readonly write: (chunk: Uint8Array) => Promise<void>;
  /** All that was written lasts. */
  readonly finish: () => Promise<void>;
}

function createWriter({ file, position, sum, digest, onLasting, signal }: PartTarget): Writer {
  let group: Uint8Array[] = [];
  let grouped = 0;
  let piece = Buffer.alloc(0);
  let written = 0;
  let lasting = 0;
  let lastingAt = readMonotonic();
  const makeLast = async (): Promise<void> => {
    if (written === lasting) return;
    const bytes = written;
    await file.datasync().catch(refuseFull);
    await onLasting(bytes);
    lasting = bytes;
    lastingAt = readMonotonic();
  };
  const flush = async (): Promise<void> => {
    // Into the same memory: the client of a part of 5 GB sends for minutes, and new memory for each group waits for its collection.
    if (piece.length < grouped) piece = Buffer.allocUnsafe(Math.max(grouped, PIECE_BYTES));
    let filled = 0;
    for (const chunk of group) {
      piece.set(chunk, filled);
      filled += chunk.length;
    }
    group = [];
    grouped = 0;
    signal.throwIfAborted();
    const buffer = piece.subarray(0, filled);
    await writeAll(file, buffer, position + written);
    digest?.update(buffer);
    written += buffer.length;
  };
  /** What fits on the disk counts; the rest gives its space back. */
  const flushWhatFits = async (): Promise<void> => {
    try {
      await flush();
    } catch (error) {
      await ignore(file.truncate(position + written));
      if (sum === null) await ignore(makeLast());
      throw explainFull(error);
    }
  };
  return {
    write: async (chunk) => {
      group.push(chunk);
      grouped += chunk.length;
      const isDue =
        written + grouped - lasting >= LASTING_BYTES || readMonotonic() - lastingAt >= LASTING_EVERY;
      const lasts = isDue && sum === null;
      if (grouped < GROUP_BYTES && !lasts) return;
      await flushWhatFits();
      if (lasts) await makeLast();
    },
    finish: async () => {
      await flushWhatFits();
      await makeLast();
    },
  };
}

/** Of two failures, the first one says what is wrong. */
async function ignore(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}

function refuseFull(error: unknown): never {
  throw explainFull(error);
}

async function writeAll(file: FileHandle, buffer: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < buffer.length;)
    done += (await file.write(buffer, done, buffer.length - done, position + done)).bytesWritten;
}
