import { createHash } from "node:crypto";
import { mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { extname, join } from "node:path";
import { PART_TYPE, TUS_VERSION, UPLOADS_PATH } from "@platform/contract/platform-api/uploads";
import { UserError } from "../base/errors.ts";
import type { Session } from "../base/session.ts";
import { persist, readRefusal } from "./transfer.ts";
import type { OnBytes } from "./transfer.ts";

/** A file of this machine, and where it goes. */
export interface FileToSend {
  readonly poolId: string;
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  /** In hex: the platform compares it with what has arrived. */
  readonly sha256: string;
}

/** What it is sent with. */
export interface Sender {
  readonly session: Pick<Session, "send" | "endpoint" | "organizationId">;
  readonly signal: AbortSignal;
  /** What is kept there says where an interrupted upload goes on. */
  readonly cacheDirectory: string;
  readonly onBytes: OnBytes;
}

/** Sent by one request, with its sum: so much is sent again when the connection breaks. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Sends a file by tus 1.0.0 and returns its id. Goes on with an upload of the same file that was interrupted, also of another process.
 *
 * @throws RequestRefused, and what `fetch` throws
 */
export async function uploadFile(sender: Sender, file: FileToSend): Promise<string> {
  const note = noteOf(sender, file);
  const source = await open(file.path, "r");
  let offset = -1;
  let path = await readFile(note, "utf8").catch(() => null);
  const step = async (): Promise<string | null> => {
    if (path === null) {
      const begun = await begin(sender, file);
      path = begun.path;
      await mkdir(join(sender.cacheDirectory, NOTES), { recursive: true, mode: 0o700 });
      await writeFile(note, path, { mode: 0o600 });
      if (begun.fileId !== null) return begun.fileId;
      offset = 0;
    }
    if (offset < 0) {
      const known = await look(sender, path, file.bytes);
      // It has expired, or was of another user.
      if (known === null) {
        path = null;
        return null;
      }
      if (known.fileId !== null) return known.fileId;
      ({ offset } = known);
    }
    const at = offset;
    // Asked again, unless the answer says it.
    offset = -1;
    sender.onBytes(at, file.bytes);
    const part = await readPart(source, at, file);
    const answer = await sendPart(sender, path, { at, part, bytes: file.bytes });
    offset = answer.offset;
    sender.onBytes(offset, file.bytes);
    return answer.fileId;
  };
  let farthest = 0;
  try {
    const fileId = await persist(step, () => (farthest = Math.max(farthest, offset)), sender.signal);
    await rm(note, { force: true });
    return fileId;
  } finally {
    await source.close();
  }
}

const NOTES = "uploads";

/** Another content, place or name is another upload. */
function noteOf({ session, cacheDirectory }: Sender, file: FileToSend): string {
  const { poolId, name, path, bytes, sha256 } = file;
  const identity = [session.endpoint, session.organizationId, poolId, name, path, bytes, sha256];
  return join(cacheDirectory, NOTES, createHash("sha256").update(JSON.stringify(identity)).digest("hex"));
}

const TYPES: Readonly<Record<string, string>> = {
  ".json": "application/json",
  ".csv": "text/csv",
  ".txt": "text/plain",
  ".zip": "application/zip",
};

function findType(name: string): string {
  return TYPES[extname(name).toLowerCase()] ?? "application/octet-stream";
}

async function begin({ session }: Sender, { poolId, name, bytes, sha256 }: FileToSend) {
  const metadata = Object.entries({ dataPoolId: poolId, filename: name, filetype: findType(name), sha256 })
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");
  const response = await session.send(UPLOADS_PATH, {
    method: "POST",
    headers: {
      "tus-resumable": TUS_VERSION,
      "upload-length": String(bytes),
      "upload-metadata": metadata,
    },
  });
  if (response.status !== 201) throw await readRefusal(response);
  // The id alone: the address of the platform as this machine sees it is known.
  const id = (response.headers.get("location") ?? "").split("/").at(-1) ?? "";
  return {
    path: `${UPLOADS_PATH}/${encodeURIComponent(id)}`,
    fileId: response.headers.get("upload-file-id"),
  };
}

/** Null: there is no such upload any more. */
async function look({ session }: Sender, path: string, bytes: number) {
  const response = await session.send(path, { method: "HEAD", headers: { "tus-resumable": TUS_VERSION } });
  if (response.status === 404 || response.status === 410) return null;
  if (response.status !== 200) throw await readRefusal(response);
  return readState(response, bytes);
}

async function sendPart(
  { session }: Sender,
  path: string,
  {
    at,
    part,
    bytes,
  }: { readonly at: number; readonly part: Uint8Array<ArrayBuffer>; readonly bytes: number },
) {
  const response = await session.send(path, {
    method: "PATCH",
    headers: {
      "tus-resumable": TUS_VERSION,
      "content-type": PART_TYPE,
      "upload-offset": String(at),
      "upload-checksum": `sha256 ${createHash("sha256").update(part).digest("base64")}`,
    },
    body: part,
  });
  if (response.status !== 204) throw await readRefusal(response);
  return readState(response, bytes);
}

/** The server is not believed that it has more than the file. @throws UserError INVALID_ANSWER */
function readState({ headers }: Response, bytes: number) {
  const offset = Number(headers.get("upload-offset") ?? "NaN");
  if (!Number.isSafeInteger(offset) || offset < 0 || offset > bytes)
    throw new UserError(
      "INVALID_ANSWER",
      "The platform says that an offset was reached that the file does not have.",
    );
  return { offset, fileId: headers.get("upload-file-id") };
}

async function readPart(source: FileHandle, at: number, { bytes }: FileToSend) {
  const part = new Uint8Array(Math.min(PART_BYTES, bytes - at));
  let filled = 0;
  while (filled < part.length) {
    const { bytesRead } = await source.read(part, filled, part.length - filled, at + filled);
    // Shorter than it was: the platform finds that its sum is another one.
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return part;
}

/** Size of a regular file; null: there is none. */
export async function readSize(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true ? found.size : null;
}
