import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { isUuid } from "@platform/engine/base/uuid";
import { UserError } from "../base/errors.ts";
import type { Session } from "../base/session.ts";
import { hashFile, persist, readRefusal } from "./transfer.ts";
import type { OnBytes } from "./transfer.ts";

/** What a file is fetched with. */
export interface Receiver {
  readonly session: Pick<Session, "send">;
  readonly signal: AbortSignal;
  readonly onBytes: OnBytes;
}

/** Content of a server, as the server describes it. */
export interface RemoteContent {
  /** Below `/api`. */
  readonly link: string;
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/**
 * Fetches a file of a data pool, as `downloadContent` does.
 *
 * @throws UserError INVALID_ANSWER, and what `downloadContent` throws
 */
export async function downloadFile(
  receiver: Receiver,
  poolId: string,
  { file, path }: { readonly file: PoolFile; readonly path: string },
): Promise<void> {
  const { fileId, name, bytes, sha256 } = file;
  if (!isUuid(fileId)) throw createInvalidAnswer();
  const link = `/data-pools/${poolId}/files/${fileId}/content`;
  await downloadContent(receiver, { link, name, bytes, sha256 }, path);
}

/**
 * Fetches content to `path`, where it appears when all of it is there and has its sum. What was fetched stays beside it, and the next call
 * goes on from there. The server is not believed: its sum becomes a path only when it is one, and what sends more than it declared is not
 * heard further.
 *
 * @throws UserError CHECKSUM_MISMATCH, INVALID_ANSWER, FILE_EXISTS, NO_PROGRESS; RequestRefused, and what `fetch` throws
 */
export async function downloadContent(
  receiver: Receiver,
  content: RemoteContent,
  path: string,
): Promise<void> {
  const { link, bytes, sha256 } = content;
  if (!/^[0-9a-f]{64}$/u.test(sha256) || !Number.isSafeInteger(bytes) || bytes < 0)
    throw createInvalidAnswer();
  const part = join(dirname(path), namePart(basename(path), sha256));
  let done = await readDone(part, bytes);
  await persist(
    async () => {
      if (done === bytes && (bytes > 0 || (await findPart(part)) !== null)) return true;
      for await (const count of fetchRest(receiver, { link, part, from: done })) {
        if (count > bytes) throw await discard(part, content);
        done = count;
        receiver.onBytes(done, bytes);
      }
      return done === bytes ? true : null;
    },
    () => done,
    receiver.signal,
  );
  if ((await hashFile(part, receiver.signal)) !== sha256) throw await discard(part, content);
  await rename(part, path);
}

/** What a part adds to a name has to fit as well. */
const LONGEST_NAME_BYTES = 200;

function namePart(name: string, sha256: string): string {
  const isLong = Buffer.byteLength(name) > LONGEST_NAME_BYTES;
  const shown = isLong ? createHash("sha256").update(name).digest("hex") : name;
  return `.${shown}.${sha256.slice(0, 8)}.part`;
}

function createInvalidAnswer(): UserError {
  return new UserError(
    "INVALID_ANSWER",
    "The platform describes the file by an id, a size or a sum that is none.",
  );
}

async function discard(part: string, { name }: RemoteContent): Promise<UserError> {
  await rm(part, { force: true });
  return new UserError(
    "CHECKSUM_MISMATCH",
    `What arrived of ${name} is not what is stored; it was removed.`,
    { hint: "Download it again." },
  );
}

interface Rest {
  readonly link: string;
  readonly part: string;
  readonly from: number;
}

/** How much there is, after each piece. */
async function* fetchRest({ session }: Receiver, { link, part, from }: Rest): AsyncGenerator<number> {
  const range = from > 0 ? { range: `bytes=${from}-` } : {};
  const response = await session.send(link, { method: "GET", headers: range });
  if (response.status !== 200 && response.status !== 206) throw await readRefusal(response);
  // A proxy may have left the range out.
  let done = response.status === 206 ? from : 0;
  const file = await (done === 0 ? createPart(part) : open(part, RESUME));
  try {
    if (response.body !== null)
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        await file.write(chunk, 0, chunk.length, done);
        done += chunk.length;
        yield done;
      }
    await file.sync();
    yield done;
  } finally {
    await file.close();
  }
}

/** Node.js knows no such flag where the system has none. */
const RESUME = constants.O_RDWR | constants.O_NOFOLLOW;

/** Never writes into what is there. */
async function createPart(part: string): Promise<FileHandle> {
  await rm(part, { force: true });
  return await open(part, "wx", 0o666);
}

/** Of a part that is longer than the file, nothing is used. */
async function readDone(part: string, bytes: number): Promise<number> {
  const size = (await findPart(part)) ?? 0;
  if (size <= bytes) return size;
  await rm(part, { force: true });
  return 0;
}

/** Size of what an interrupted download of this user left; null: nothing. @throws UserError FILE_EXISTS */
async function findPart(part: string): Promise<number | null> {
  const found = await lstat(part).catch(() => null);
  if (found === null) return null;
  // Windows has no such function, and therefore no export of that name.
  if (found.isFile() && found.uid === (process.getuid?.() ?? found.uid)) return found.size;
  throw new UserError("FILE_EXISTS", `${part} is there, and is no file that a download of yours left.`, {
    hint: "Remove it, or name another path with -o.",
  });
}
