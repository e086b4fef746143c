import type { IncomingHttpHeaders } from "node:http";
import { explainFileName } from "@platform/contract/file-name";
import { PART_TYPE } from "@platform/contract/platform-api/uploads";
import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "@platform/engine/base/bytes";
import { toMediaType } from "@platform/engine/content/media-type";
import type { PartSum } from "../pools/receive-part.ts";
import type { NewUpload } from "../store/pools/uploads.ts";

/*
 * The headers of tus 1.0.0 (https://tus.io/protocols/resumable-upload). They are numbers and base64; what is not is refused.
 */

/** What the head of a creation says. */
export type UploadHead = Pick<NewUpload, "bytes" | "metadata" | "poolId" | "name" | "mediaType" | "sha256">;

/** Kept with the upload. */
const MAX_METADATA = 4_096;

/** @throws Problem INVALID_INPUT, FILE_TOO_LARGE */
export function readCreation(headers: IncomingHttpHeaders, maxBytes: number): UploadHead {
  if (headers["upload-concat"] !== undefined)
    throw new Problem(
      "INVALID_INPUT",
      "Uploads are not put together (Upload-Concat); send the file as one upload.",
    );
  if (headers["upload-defer-length"] !== undefined)
    throw new Problem("INVALID_INPUT", "Upload-Defer-Length is not supported; send Upload-Length.");
  const bytes = readCount(headers, "upload-length");
  if (bytes > maxBytes)
    throw new Problem(
      "FILE_TOO_LARGE",
      `The file has ${formatGigabytes(bytes)} GB, and may have ${formatGigabytes(maxBytes)} GB.`,
    );
  const metadata = readOne(headers, "upload-metadata") ?? "";
  const values = readMetadata(metadata);
  const name = requireValue(values, "filename");
  const fault = explainFileName(name);
  if (fault !== null)
    throw new Problem("INVALID_INPUT", fault, { errors: [{ path: "/filename", message: fault }] });
  const sha256 = values.get("sha256")?.toLowerCase() ?? null;
  if (sha256 !== null && !/^[0-9a-f]{64}$/u.test(sha256))
    throw new Problem(
      "INVALID_INPUT",
      "The sha256 of Upload-Metadata has 64 hexadecimal digits; leave it out or correct it.",
    );
  const poolId = requireValue(values, "dataPoolId");
  return { bytes, metadata, poolId, name, mediaType: toMediaType(values.get("filetype")), sha256 };
}

/** Where a part begins. @throws Problem INVALID_INPUT */
export function readOffset(headers: IncomingHttpHeaders): number {
  return readCount(headers, "upload-offset");
}

/** The length that a part is said to have; null: none is said. */
export function readPartLength(headers: IncomingHttpHeaders): number | null {
  const length = headers["content-length"];
  return length === undefined ? null : Number(length);
}

/** @throws Problem UNSUPPORTED_MEDIA_TYPE */
export function requirePartType(headers: IncomingHttpHeaders): void {
  const given = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given === PART_TYPE) return;
  throw new Problem("UNSUPPORTED_MEDIA_TYPE", `A part of an upload must be ${PART_TYPE}.`);
}

const SUM_BYTES = { sha1: 20, sha256: 32 } as const;

/** The sums that are known, as tus names them. */
export const SUMS = Object.keys(SUM_BYTES).join(",");

/** Null: there is none. @throws Problem INVALID_INPUT */
export function readSum(headers: IncomingHttpHeaders): PartSum | null {
  const header = readOne(headers, "upload-checksum");
  if (header === undefined) return null;
  const [algorithm, value = "", ...others] = header.trim().split(" ");
  const isKnown = algorithm === "sha1" || algorithm === "sha256";
  if (isKnown && others.length === 0 && decode(value)?.length === SUM_BYTES[algorithm])
    return { algorithm, value };
  throw new Problem(
    "INVALID_INPUT",
    `Upload-Checksum is the name of a sum (${SUMS}) and its value in base64.`,
  );
}

function readCount(headers: IncomingHttpHeaders, name: string): number {
  const header = readOne(headers, name);
  if (header !== undefined && /^\d{1,15}$/u.test(header)) return Number(header);
  const what = header === undefined ? "is missing" : "is not a number of bytes";
  throw new Problem("INVALID_INPUT", `The header ${name} ${what}.`);
}

function readOne(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

function readMetadata(header: string): ReadonlyMap<string, string> {
  if (header.length > MAX_METADATA)
    throw new Problem("INVALID_INPUT", `Upload-Metadata has more than ${MAX_METADATA} characters.`);
  const values = new Map<string, string>();
  for (const pair of header.split(",")) {
    if (pair.trim() === "") continue;
    const [key = "", value = "", ...others] = pair.trim().split(" ");
    const text = decodeText(value);
    if (others.length > 0 || text === null || values.has(key))
      throw new Problem(
        "INVALID_INPUT",
        "Upload-Metadata is a list of different names, each with a value in base64.",
      );
    values.set(key, text);
  }
  return values;
}

function requireValue(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value !== undefined) return value;
  throw new Problem("INVALID_INPUT", `Upload-Metadata has no ${name}.`);
}

function decodeText(value: string): string | null {
  const bytes = decode(value);
  if (bytes === null) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function decode(value: string): Buffer | null {
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64").replaceAll("=", "") === value.replace(/={0,2}$/u, "") ? bytes : null;
}
