import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CompletedPart, ListMultipartUploadsCommandOutput } from "@aws-sdk/client-s3";
import { LocalFailure, ignoreMissing } from "./s3-bucket.ts";
import type { Bucket, S3Client } from "./s3-bucket.ts";
import type { ByteRange, ReceivedFile } from "./object-store.ts";

/** Where content goes, and whether it may replace what is there. */
export interface Upload {
  readonly partBytes: number;
  readonly file: ReceivedFile;
  readonly key: string;
  readonly replaces: boolean;
}

/**
 * Stores a file as one object, which is seen when all of it is there. The store compares what arrives with digests.
 *
 * @throws S3Refusal when there is an object already and it may not be replaced; also when an answer was lost, and there is one now
 */
export async function upload(bucket: Bucket, { file, key, replaces, partBytes }: Upload): Promise<void> {
  const target = { Key: key, IfNoneMatch: replaces ? undefined : "*" };
  if (file.bytes > partBytes) return uploadParts(bucket, file, { ...target, partBytes });
  const ChecksumSHA256 = Buffer.from(file.hash, "hex").toString("base64");
  await bucket.request((s3) =>
    sendPart(file.path, { start: 0, end: file.bytes }, (part, options) =>
      s3.client.send(
        new s3.commands.PutObjectCommand({ Bucket: s3.bucket, ...target, ChecksumSHA256, ...part }),
        options,
      ),
    ),
  );
}

interface Target {
  readonly Key: string;
  readonly IfNoneMatch: string | undefined;
  readonly partBytes: number;
}

async function uploadParts(
  bucket: Bucket,
  file: ReceivedFile,
  { Key, IfNoneMatch, partBytes }: Target,
): Promise<void> {
  const of = (s3: S3Client) => ({ Bucket: s3.bucket, Key });
  // Named here and for each part, or else a store refuses to put them together.
  const ChecksumAlgorithm = "SHA256";
  const { UploadId } = await bucket.request((s3) =>
    s3.client.send(new s3.commands.CreateMultipartUploadCommand({ ...of(s3), ChecksumAlgorithm })),
  );
  try {
    const Parts: CompletedPart[] = [];
    for (let start = 0; start < file.bytes; start += partBytes) {
      const PartNumber = Parts.length + 1;
      const range = { start, end: Math.min(file.bytes, start + partBytes) };
      const ChecksumSHA256 = await hashPart(file.path, range);
      const { ETag } = await bucket.request((s3) =>
        sendPart(file.path, range, (part, options) => {
          const input = { ...of(s3), UploadId, PartNumber, ChecksumSHA256, ...part };
          return s3.client.send(new s3.commands.UploadPartCommand(input), options);
        }),
      );
      Parts.push({ PartNumber, ETag, ChecksumSHA256 });
    }
    const MultipartUpload = { Parts };
    await bucket.request((s3) =>
      s3.client.send(
        new s3.commands.CompleteMultipartUploadCommand({ ...of(s3), UploadId, IfNoneMatch, MultipartUpload }),
      ),
    );
  } catch (error) {
    await bucket
      .requestOnce((s3) =>
        s3.client.send(new s3.commands.AbortMultipartUploadCommand({ ...of(s3), UploadId })),
      )
      // What stays, also after a crash, is found by abortUploads.
      .catch(() => undefined);
    throw error;
  }
}

/**
 * SHA-256 in base64. The client could add another sum while it sends, but then a file that cannot be read ends the process:
 * nobody listens for errors of the stream that it makes.
 */
async function hashPart(path: string, { start, end }: ByteRange): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path, { start, end: end - 1 }), digest);
  return digest.digest("base64");
}

interface Part {
  readonly Body: Readable | Uint8Array;
  readonly ContentLength: number;
}

/** Sends a part of a file, which is closed in any case: the client leaves it open when a request fails. */
async function sendPart<T>(
  path: string,
  { start, end }: ByteRange,
  send: (part: Part, options: { readonly abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  if (start === end) return send({ Body: new Uint8Array(0), ContentLength: 0 }, {});
  const reading = new AbortController();
  const body = createReadStream(path, { start, end: end - 1 });
  // The client waits for a body that fails as for one that is slow.
  body.on("error", (error) => reading.abort(error));
  try {
    return await send({ Body: body, ContentLength: end - start }, { abortSignal: reading.signal });
  } catch (error) {
    if (!reading.signal.aborted) throw error;
    throw new LocalFailure("The content could not be read.", { cause: reading.signal.reason });
  } finally {
    body.destroy();
  }
}

/** Aborts uploads in parts that were begun before a time and not completed; returns how many. Their parts take space, but cannot be seen. */
export async function abortUploads(bucket: Bucket, prefix: string, before: Date): Promise<number> {
  let aborted = 0;
  let markers: Markers | null = {};
  while (markers !== null) {
    const page = await listUploads(bucket, { Prefix: prefix, ...markers });
    const old = (page.Uploads ?? []).filter(({ Initiated }) => Initiated !== undefined && Initiated < before);
    for (const { Key, UploadId } of old)
      await bucket
        .request((s3) =>
          s3.client.send(new s3.commands.AbortMultipartUploadCommand({ Bucket: s3.bucket, Key, UploadId })),
        )
        // Another process has found it, too.
        .catch(ignoreMissing);
    aborted += old.length;
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    markers = page.IsTruncated === true ? { KeyMarker, UploadIdMarker } : null;
  }
  return aborted;
}

/** Where the next page begins. */
interface Markers {
  readonly KeyMarker?: string | undefined;
  readonly UploadIdMarker?: string | undefined;
}

function listUploads(
  bucket: Bucket,
  page: Markers & { readonly Prefix: string },
): Promise<ListMultipartUploadsCommandOutput> {
  return bucket.request((s3) =>
    s3.client.send(new s3.commands.ListMultipartUploadsCommand({ Bucket: s3.bucket, ...page })),
  );
}
