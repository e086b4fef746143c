import { join } from "node:path";
import { Problem } from "@platform/contract/problems";
import { getCode } from "@platform/engine/base/thrown";
import type { ReceivedObject } from "../objects/object-store.ts";
import type { UploadRecord } from "../store/pools/uploads.ts";
import { hashPart, PartLost, readParts, removeParts } from "./part-files.ts";
import { takenOver } from "./upload-turn.ts";
import type { Turn } from "./upload-turn.ts";

/**
 * Makes a file of an upload of which all has arrived, and returns its id. It can be repeated: until the file is stored, the parts stay, or
 * their content is an object already. `heard`: the hash of the content, where it is known.
 *
 * @throws Problem; StoreFull, StoreUnavailable, PartLost
 */
export async function storeUpload(turn: Turn, heard: string | null): Promise<string> {
  const { options, key, writer, requireStill } = turn;
  const { store, folder } = options;
  const id = key.id;
  // An upload may take days.
  await requireStill();
  const record = await store.find(key);
  if (record === null || record.writer !== writer) throw takenOver();
  const received = await gather(turn, record, heard);
  try {
    if (record.sha256 !== null && record.sha256 !== received.hash)
      return await refuse(turn, new Problem("CHECKSUM_MISMATCH"));
    if (!(await store.setHash({ id, writer }, received.hash))) throw takenOver();
    await keep(received);
    const fileId = await putFile(turn, record, received.hash);
    await removeParts(folder, record.parts);
    return fileId;
  } finally {
    if (record.parts.length !== 1) await received.drop();
  }
}

/** Row and file in one transaction: of several requests that store the upload, one does. */
async function putFile(turn: Turn, record: UploadRecord, hash: string): Promise<string> {
  const { options, key, writer } = turn;
  const { poolId, name, mediaType, bytes } = record;
  const stored = await options.files.put({
    organisationId: key.organisationId,
    poolId,
    name,
    mediaType,
    bytes,
    hash,
    createdBy: key.userId,
    mayReplace: true,
    upload: { id: key.id, writer },
  });
  if (stored === null)
    return await refuse(turn, new Problem("NOT_FOUND", "The data pool was deleted meanwhile."));
  // Another file may be put under this name in this very moment.
  if (stored === "name taken")
    throw new Problem("CONFLICT", "The name is just being taken; ask for the upload again.");
  if (stored === "taken over") throw takenOver();
  return stored.id;
}

/** The whole content as one file of this machine: of one part that part itself. */
async function gather(turn: Turn, record: UploadRecord, heard: string | null): Promise<ReceivedObject> {
  const { objects, folder } = turn.options;
  const { parts, bytes } = record;
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0)
    return await objects.receive(readParts(folder, parts, bytes), bytes).catch(explainMissing);
  const hash = record.hash ?? heard ?? (await hashPart(folder, part.file).catch(explainMissing));
  return objects.take({ hash, bytes, path: join(folder, part.file) });
}

/** Nothing is stored, and the upload is over. */
async function refuse({ options, key, writer }: Turn, problem: Problem): Promise<never> {
  const given = await options.store.delete(key, writer);
  await removeParts(options.folder, given?.parts ?? []);
  throw problem;
}

/** The second time the store is asked anew: another process may have moved the part there in between. */
async function keep(received: ReceivedObject): Promise<void> {
  await received.keep().catch(async (error: unknown) => {
    if (getCode(error) !== "ENOENT") throw error;
    await received.keep().catch(explainMissing);
  });
}

function explainMissing(error: unknown): never {
  if (getCode(error) === "ENOENT") throw new PartLost("A part is missing.", { cause: error });
  throw error;
}
