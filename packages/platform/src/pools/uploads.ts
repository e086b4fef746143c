import { createHash, randomUUID } from "node:crypto";
import type { Hash } from "node:crypto";
import type { Readable } from "node:stream";
import { Problem } from "@platform/contract/problems";
import { createDeferred } from "@platform/engine/base/deferred";
import { SECOND } from "@platform/engine/base/time";
import { untilAborted } from "@platform/engine/base/until-aborted";
import { StoreFull } from "../objects/object-store.ts";
import type { NewUpload, UploadKey, UploadPart, UploadRecord } from "../store/pools/uploads.ts";
import { createPart, openPart, PartLost, readPlace, removeParts } from "./part-files.ts";
import { PartDamaged, PartTooLong, receivePart } from "./receive-part.ts";
import type { PartSum } from "./receive-part.ts";
import { storeUpload } from "./store-upload.ts";
import { takenOver } from "./upload-turn.ts";
import type { Turn, UploadsOptions } from "./upload-turn.ts";

/*
 * Uploads that can be resumed. The row says how much has arrived (`received`): what is written in a part and was synchronised to the disk
 * before. What lies behind it in the part is cut off by the next writer.
 *
 * One request writes, the one whose id the row has (`writer`). A newer one that has the right offset takes over: the row changes first, so
 * that nothing that the older one does counts any more, and then the older one is ended. Where that is in this process, the newer one
 * waits for it and goes on in the same part. Where it is in another process, or was killed with it, or does not end soon, nobody knows
 * whether it still writes: then the next one begins a part of its own, and the parts are put together at the end. The same holds for who
 * takes over from one that has not got that far: an object would be written to that is named by its content already.
 *
 * `received` of all bytes is not the end: the file is stored afterwards, by the same request, or by the next one that asks for the upload.
 */

/** A part that is sent. */
interface SentPart {
  readonly content: Readable;
  /** Where it begins, as its sender says. */
  readonly offset: number;
  /** As its sender says; null: not said. */
  readonly bytes: number | null;
  readonly sum: PartSum | null;
  /** Aborts when another one needs its place: what came counts. */
  readonly yielding: AbortSignal;
  /** Whether the caller may still do this. @throws Problem */
  readonly requireStill: () => Promise<void>;
}

/** Where an upload stands. */
export type UploadState = Pick<
  UploadRecord,
  "id" | "metadata" | "bytes" | "received" | "expiresAt" | "isStored" | "fileId"
>;

/** Uploads of users; those of others are treated as missing. */
export interface Uploads {
  /** @throws Problem NOT_FOUND, QUOTA_EXCEEDED, UNAVAILABLE */
  readonly begin: (upload: Omit<NewUpload, "place">) => Promise<UploadState>;
  /** Stores the file where all has arrived and that was not done. @throws Problem */
  readonly find: (key: UploadKey, requireStill: SentPart["requireStill"]) => Promise<UploadState>;
  /** @throws Problem; StoreFull, StoreUnavailable; the failure of the content */
  readonly append: (key: UploadKey, part: SentPart) => Promise<UploadState>;
  /** @throws Problem NOT_FOUND */
  readonly giveUp: (key: UploadKey) => Promise<void>;
}

/** A request that writes. */
interface Run {
  readonly ending: AbortController;
  /** Resolves when it writes no more. */
  readonly ended: Promise<void>;
  /** Whether the last part is its own: before, the one that it has taken over from may still write there. */
  readonly isAlone: () => boolean;
}

/** Uploads whose parts lie in a folder of this machine. */
export function createUploads(options: UploadsOptions): Uploads {
  const { store, folder } = options;
  const runs = new Map<string, Run>();
  const claim = createClaim(options, runs);
  const append = async (key: UploadKey, part: SentPart): Promise<UploadState> => {
    const found = await findSettled(options, runs, key);
    await requireFit(options, found, part);
    if (found.isStored) return found;
    return await claim(key, part, async (turn) => {
      const hash = turn.record.received < turn.record.bytes ? await receive(turn, part) : null;
      const state = requireOpen(await store.find(key));
      if (state.received < state.bytes || state.isStored) return state;
      return { ...state, isStored: true, fileId: await storeUpload(turn, hash) };
    });
  };
  return {
    begin: async (upload) => {
      if (options.isDiskLow()) throw new StoreFull({});
      const begun = await store.create({ ...upload, place: await readPlace(folder) });
      if (begun === null) throw new Problem("NOT_FOUND", "There is no such data pool.");
      return begun;
    },
    find: async (key, requireStill) => {
      const found = await findSettled(options, runs, key);
      if (found.isStored || found.received < found.bytes) return found;
      await requirePlace(folder, found.place);
      return await claim(key, { offset: found.bytes, requireStill }, async (turn) => ({
        ...found,
        isStored: true,
        fileId: await storeUpload(turn, null),
      }));
    },
    append,
    giveUp: (key) => giveUp(options, runs, key),
  };
}

async function giveUp(
  { store, folder }: UploadsOptions,
  runs: ReadonlyMap<string, Run>,
  key: UploadKey,
): Promise<void> {
  requireOpen(await store.find(key));
  const given = await store.delete(key);
  if (given === null) throw noUpload();
  // It may still write to a part that is removed here, or store it: nothing of that counts.
  runs.get(given.writer ?? "")?.ending.abort(noUpload());
  if (given.place === (await readPlace(folder))) await removeParts(folder, given.parts);
}

type Claim = <T>(
  key: UploadKey,
  wanted: Pick<SentPart, "offset" | "requireStill">,
  work: (turn: Turn) => Promise<T>,
) => Promise<T>;

/** Runs work as the one that writes. */
function createClaim(options: UploadsOptions, runs: Map<string, Run>): Claim {
  const { store } = options;
  return async (key, { offset, requireStill }, work) => {
    const writer = randomUUID();
    const ended = createDeferred<void>();
    const ending = new AbortController();
    let isAlone = false;
    const onAlone = (): void => {
      isAlone = true;
    };
    runs.set(writer, { ending, ended: ended.promise, isAlone: () => isAlone });
    try {
      const claimed = await store.claim(key, writer, offset);
      if (claimed === null) throw refuseOffset(requireOpen(await store.find(key)));
      const former = runs.get(claimed.writer ?? "");
      former?.ending.abort(takenOver());
      await waitFor(former, options);
      // The older request of this process has closed its part, where it had one.
      const record = former?.isAlone() === true ? { ...claimed, writer: null } : claimed;
      if (record.writer === null) onAlone();
      return await work({ options, key, record, writer, signal: ending.signal, onAlone, requireStill });
    } catch (error) {
      throw error instanceof PartLost ? await endLost(options, key, { writer, error }) : error;
    } finally {
      if (isAlone) await store.release({ id: key.id, writer }).catch(() => undefined);
      runs.delete(writer);
      ended.resolve();
    }
  };
}

/** Ends the upload, unless another request has taken it over: that one may have all that is missing here. */
async function endLost(
  { store, folder }: UploadsOptions,
  key: UploadKey,
  { writer, error }: { readonly writer: string; readonly error: PartLost },
): Promise<Problem> {
  const lost = await store.delete(key, writer);
  if (lost === null) return takenOver();
  await removeParts(folder, lost.parts);
  return new Problem("UPLOAD_EXPIRED", "What had arrived of the upload was lost; begin anew.", {
    cause: error,
  });
}

/** Storing a large file takes longer than clients and proxies wait for an answer. */
const PATIENCE = 20 * SECOND;

/** Waits for a request of this process that is ending or storing the upload, but not for long. @throws Problem UPLOAD_LOCKED */
async function waitFor(
  run: Run | undefined,
  { patienceMs = PATIENCE }: Pick<UploadsOptions, "patienceMs">,
): Promise<void> {
  if (run === undefined) return;
  await untilAborted(run.ended, AbortSignal.timeout(patienceMs)).catch(() => {
    throw takenOver();
  });
}

/** One of which all has arrived may just be becoming a file: that is waited for. @throws Problem NOT_FOUND, UPLOAD_EXPIRED, UPLOAD_LOCKED */
async function findSettled(
  options: UploadsOptions,
  runs: ReadonlyMap<string, Run>,
  key: UploadKey,
): Promise<UploadRecord> {
  const { store } = options;
  const found = requireOpen(await store.find(key));
  if (found.isStored || found.received < found.bytes) return found;
  await waitFor(runs.get(found.writer ?? ""), options);
  return requireOpen(await store.find(key));
}

/** The cheapest check first; nothing of the part is read before. */
async function requireFit(
  { folder, isDiskLow }: UploadsOptions,
  found: UploadRecord,
  part: SentPart,
): Promise<void> {
  const { received, bytes, isStored, place } = found;
  if (part.offset !== received) throw refuseOffset(found);
  if ((part.bytes ?? 0) > bytes - received) throw tooLong(found);
  if (isStored) return;
  await requirePlace(folder, place);
  if (isDiskLow() && received < bytes) throw new StoreFull({});
}

/** @throws Problem UNAVAILABLE */
async function requirePlace(folder: string, place: string): Promise<void> {
  if (place === (await readPlace(folder))) return;
  throw new Problem(
    "UNAVAILABLE",
    "What has arrived of this upload lies on another machine of the platform; ask again, that one may answer.",
    { headers: { "retry-after": "1" } },
  );
}

/** Returns the hash of the whole content where it was heard from the first byte to the last. */
async function receive(turn: Turn, part: SentPart): Promise<string | null> {
  const { options, record, writer, signal } = turn;
  const { store, isDiskLow, pace } = options;
  const { id, received, bytes } = record;
  const { file, start } = await findPart(turn);
  const digest: Hash | null = received === 0 ? createHash("sha256") : null;
  try {
    await receivePart(part.content, {
      file,
      position: received - start,
      limit: bytes - received,
      sum: part.sum,
      digest,
      signal,
      yielding: part.yielding,
      ...(pace === undefined ? {} : { pace }),
      onLasting: async (count) => {
        if (!(await store.advance({ id, writer }, received + count))) throw takenOver();
        if (isDiskLow() && received + count < bytes) throw new StoreFull({});
      },
    });
    return digest?.digest("hex") ?? null;
  } catch (error) {
    if (error instanceof PartTooLong) throw tooLong(record);
    if (error instanceof PartDamaged)
      throw new Problem("UPLOAD_CHECKSUM_MISMATCH", undefined, {
        headers: { "upload-offset": String(received) },
      });
    throw error;
  } finally {
    await file.close();
  }
}

async function findPart({ options, record, writer, onAlone }: Turn) {
  const { store, folder } = options;
  const { id, received, parts } = record;
  const last = parts.at(-1);
  if (last !== undefined && record.writer === null)
    return { file: await openPart(folder, last.file, received - last.start), start: last.start };
  // A part with nothing in it that counts is not needed any more.
  const kept = last?.start === received ? parts.slice(0, -1) : parts;
  if (kept.length >= MAX_PARTS)
    throw new Problem("CONFLICT", "The upload was interrupted too often; begin anew.");
  const made: UploadPart = { file: randomUUID(), start: received };
  const file = await createPart(folder, made.file);
  const isNamed = await store.setParts({ id, writer }, [...kept, made]).catch(async (error: unknown) => {
    // It stays, since it may have been named; what was not is swept.
    await file.close();
    throw error;
  });
  if (isNamed) {
    onAlone();
    await removeParts(folder, parts.slice(kept.length));
    return { file, start: received };
  }
  await file.close();
  await removeParts(folder, [made]);
  throw takenOver();
}

/** Each is a process that was killed, or another one that was asked. */
const MAX_PARTS = 1_000;

/** @throws Problem NOT_FOUND, UPLOAD_EXPIRED */
function requireOpen(found: UploadRecord | null): UploadRecord {
  if (found === null) throw noUpload();
  if (found.isExpired) throw new Problem("UPLOAD_EXPIRED");
  return found;
}

function noUpload(): Problem {
  return new Problem("NOT_FOUND", "There is no such upload, or it was given up.");
}

function refuseOffset({ received }: UploadRecord): Problem {
  return new Problem("CONFLICT", `The upload has ${received} bytes; send what follows them.`, {
    headers: { "upload-offset": String(received) },
  });
}

function tooLong({ bytes, received }: UploadRecord): Problem {
  return new Problem(
    "FILE_TOO_LARGE",
    `The part is longer than what is missing of the upload: ${bytes - received} of ${bytes} bytes.`,
  );
}
