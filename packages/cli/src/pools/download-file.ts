import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
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

/**
 * Fetches a file to `path`, where it appears when all of it is there and has its sum. What was fetched stays beside it, and the next call
 * goes on from there.
 *
 * @throws UserError CHECKSUM_MISMATCH; RequestRefused, and what `fetch` throws
 */
export async function downloadFile(
  receiver: Receiver,
  poolId: string,
  { file, path }: { readonly file: PoolFile; readonly path: string },
): Promise<void> {
  const { fileId, bytes, sha256 } = file;
  const part = join(dirname(path), `.${basename(path)}.${fileId.slice(0, 8)}.part`);
  let done = await readDone(part, bytes);
  await persist(
    async () => {
      if (done === bytes && (bytes > 0 || (await exists(part)))) return true;
      for await (const count of fetchRest(receiver, {
        link: `/data-pools/${poolId}/files/${fileId}/content`,
        part,
        from: done,
      })) {
        done = count;
        receiver.onBytes(done, bytes);
      }
      return done >= bytes ? true : null;
    },
    () => done,
    receiver.signal,
  );
  if ((await hashFile(part, receiver.signal)) !== sha256) {
    await rm(part, { force: true });
    throw new UserError(
      "CHECKSUM_MISMATCH",
      `What arrived of ${file.name} is not what is stored; it was removed.`,
      {
        hint: "Download it again.",
      },
    );
  }
  await rename(part, path);
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
  const file = await open(part, done === 0 ? "w" : "r+", 0o666);
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

/** Of a part that is longer than the file, nothing is used. */
async function readDone(part: string, bytes: number): Promise<number> {
  const size = await stat(part).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= bytes) return size;
  await rm(part, { force: true });
  return 0;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
