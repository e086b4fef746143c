import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { getMessage } from "@platform/engine/base/thrown";
import type { S3Settings } from "../config/object-settings.ts";
import { ObjectDamaged, ObjectMissing, StoreUnavailable, isObjectHash } from "./object-store.ts";
import type { ByteRange, ListedObject, ObjectStore, ReceivedFile, ReceivedObject } from "./object-store.ts";
import { receiveContent } from "./receive-content.ts";
import { PassingFailure, S3Refusal, S3_LIMITS, explain, ignoreMissing, openBucket } from "./s3-bucket.ts";
import type { Bucket, S3Limits } from "./s3-bucket.ts";
import { abortUploads, upload } from "./s3-upload.ts";

/** What a bucket is used with. */
export interface S3ObjectsOptions {
  readonly settings: S3Settings;
  /** A folder of this machine for what is received. */
  readonly incoming: string;
  /** What is received and fetched leaves so much of the disk free; default: nothing. */
  readonly spareBytes?: number;
  readonly limits?: S3Limits;
  /** Hears of each request that was given up; the cause of the error says why. */
  readonly onUnavailable?: (error: StoreUnavailable) => void;
}

/** The settings do not fit the service: no such bucket, another region, no right to use it. The message says which. */
export class BucketUnusable extends Error {}

/** Objects in a bucket. */
export interface S3Objects extends ObjectStore {
  /** Asks for the bucket once. @throws BucketUnusable, StoreUnavailable */
  readonly check: (signal?: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

interface Store {
  readonly bucket: Bucket;
  readonly limits: S3Limits;
  readonly spareBytes: number;
  /** With the slash at its end; empty: none. */
  readonly prefix: string;
}

/** Objects in a bucket of an S3 service, named as in a folder: `PREFIX/ab/abcd...`. Nothing is asked of the service yet. */
export async function openS3Objects({
  settings,
  incoming,
  spareBytes = 0,
  limits = S3_LIMITS,
  onUnavailable,
}: S3ObjectsOptions): Promise<S3Objects> {
  const bucket = await openBucket({ settings, limits, ...(onUnavailable && { onUnavailable }) });
  const store = { bucket, limits, spareBytes, prefix: settings.prefix === "" ? "" : `${settings.prefix}/` };
  return {
    receive: async (content, limit) =>
      take(store, await receiveContent(content, { folder: incoming, limit, spareBytes })),
    take: (file) => take(store, file),
    read: async (hash, range) => {
      if (range === undefined || range.start < range.end)
        return bucket.repeat(() => readOnce(store, hash, range));
      if ((await findSize(store, hash)) === null) throw new ObjectMissing(hash);
      return Readable.from([]);
    },
    fetchTo: (hash, path) => bucket.repeat(() => fetchOnce(store, hash, path)),
    has: async (hash) => (await findSize(store, hash)) !== null,
    remove: async (hash) => {
      if (!isObjectHash(hash)) return;
      const Key = nameKey(store, hash);
      await bucket
        .requestOnce((s3) => s3.client.send(new s3.commands.DeleteObjectCommand({ Bucket: s3.bucket, Key })))
        .catch(ignoreMissing);
    },
    list: () => listObjects(store),
    check: (signal) => check(store, settings.bucket, signal),
    removeUnfinished: (before) => abortUploads(bucket, store.prefix, before),
    close: bucket.close,
  };
}

function nameKey({ prefix }: Store, hash: string): string {
  return `${prefix}${hash.slice(0, 2)}/${hash}`;
}

/** In bytes; null: there is no such object. */
async function findSize(store: Store, hash: string): Promise<number | null> {
  if (!isObjectHash(hash)) return null;
  const Key = nameKey(store, hash);
  try {
    const { ContentLength } = await store.bucket.request((s3) =>
      s3.client.send(new s3.commands.HeadObjectCommand({ Bucket: s3.bucket, Key })),
    );
    return ContentLength ?? 0;
  } catch (error) {
    ignoreMissing(error);
    return null;
  }
}

function take(store: Store, file: ReceivedFile): ReceivedObject {
  let kept: Promise<void> | null = null;
  return {
    ...file,
    keep: () =>
      (kept ??= keep(store, file).catch((error: unknown) => {
        kept = null;
        throw error;
      })),
    drop: () => rm(file.path, { force: true }),
  };
}

/** Sends the content unless it is there. What is there and has another size was damaged by others, and is replaced. */
async function keep(store: Store, file: ReceivedFile): Promise<void> {
  const key = nameKey(store, file.hash);
  const { partBytes } = store.limits;
  for (const replaces of [false, true]) {
    try {
      return await upload(store.bucket, { file, key, replaces, partBytes });
    } catch (error) {
      if (!(error instanceof S3Refusal)) throw error;
    }
    // Another process has stored it, or a request of which the answer was lost.
    if ((await findSize(store, file.hash)) === file.bytes) return;
  }
  throw new StoreUnavailable("Others change the object while it is stored. Try again later.");
}

/** Ends with a StoreUnavailable when the connection breaks. */
async function readOnce(store: Store, hash: string, range?: ByteRange): Promise<Readable> {
  if (!isObjectHash(hash)) throw new ObjectMissing(hash);
  const Key = nameKey(store, hash);
  const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end - 1}`;
  const { Body } = await store.bucket
    .requestOnce((s3) => s3.client.send(new s3.commands.GetObjectCommand({ Bucket: s3.bucket, Key, Range })))
    .catch((error: unknown) => {
      ignoreMissing(error);
      throw new ObjectMissing(hash);
    });
  if (!(Body instanceof Readable)) throw new TypeError("The client gave no stream.");
  return explainBreaks(Body);
}

function explainBreaks(body: Readable): Readable {
  const content = new PassThrough();
  // Whoever reads it hears of an error also later; one that nobody hears of would end the process.
  content.on("error", () => undefined);
  body.on("error", (error) => content.destroy(asError(explain(error))));
  content.on("close", () => body.destroy());
  return body.pipe(content);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** The file gets its name when its content is known to be that of the object. */
async function fetchOnce(store: Store, hash: string, path: string): Promise<void> {
  const content = await readOnce(store, hash);
  try {
    const { spareBytes } = store;
    const file = await receiveContent(content, { folder: dirname(path), limit: Infinity, spareBytes });
    if (file.hash === hash) return await rename(file.path, path);
    await rm(file.path);
    throw new ObjectDamaged(hash);
  } finally {
    content.destroy();
  }
}

/** A list and not a HEAD, whose answer would not say what is wrong. */
async function check(
  { bucket, prefix }: Store,
  name: string,
  abortSignal: AbortSignal | undefined,
): Promise<void> {
  try {
    await bucket.requestOnce((s3) =>
      s3.client.send(
        new s3.commands.ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix, MaxKeys: 1 }),
        abortSignal === undefined ? {} : { abortSignal },
      ),
    );
  } catch (error) {
    if (error instanceof PassingFailure || !(error instanceof Error)) throw error;
    throw new BucketUnusable(
      `The bucket ${name} cannot be used: ${getMessage(error.cause)} Correct --s3-bucket, --s3-endpoint, --s3-region or the key.`,
      { cause: error },
    );
  }
}

async function* listObjects({ bucket, prefix }: Store): AsyncIterable<ListedObject> {
  let ContinuationToken: string | undefined;
  do {
    const from = ContinuationToken;
    const page = await bucket.request((s3) =>
      s3.client.send(
        new s3.commands.ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix, ContinuationToken: from }),
      ),
    );
    for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
      const [shard, hash = "", ...others] = Key.slice(prefix.length).split("/");
      if (isObjectHash(hash) && hash.slice(0, 2) === shard && others.length === 0)
        yield { hash, bytes: Size, keptAt: LastModified?.getTime() ?? 0 };
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}
