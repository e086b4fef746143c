import { formatTimestamp } from "@platform/contract/execution";
import { explainFileName } from "@platform/contract/file-name";
import type { DATA_POOLS_API, PoolFile } from "@platform/contract/platform-api/data-pools";
import { Problem } from "@platform/contract/problems";
import { GIGABYTE } from "@platform/engine/base/bytes";
import { toMediaType } from "@platform/engine/content/media-type";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import { ObjectTooLarge } from "../objects/object-store.ts";
import type { Objects, ReceivedObject } from "../objects/object-store.ts";
import type { PoolFileRecord } from "../store/pools/pool-files.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";
import { explainStoreError, requireStorable } from "./store-problems.ts";
import type { ContentRoom } from "./store-problems.ts";
import { refusePool } from "../store/pools/pool-rights.ts";
import { receiveUpload } from "./receive-upload.ts";
import type { ReceiveUploadDeps } from "./receive-upload.ts";
import type { UploadGate } from "./upload-gate.ts";

type AllHandlers = OperationHandlers<typeof DATA_POOLS_API, PlatformCaller>;
type Handlers = Pick<
  AllHandlers,
  "listPoolFiles" | "putPoolFile" | "getPoolFile" | "downloadPoolFile" | "renamePoolFile" | "deletePoolFile"
>;
type PutFile = Parameters<Handlers["putPoolFile"]>[0];

/** What the handlers work with. */
export interface PoolFileDeps
  extends Pick<Stores, "dataPools" | "poolFiles">, ContentRoom, Pick<ReceiveUploadDeps, "uploadPace"> {
  readonly objects: Objects;
  readonly uploads: UploadGate;
  /** Size of the largest file. */
  readonly maxFileBytes: number;
}

/** Handlers of the files of data pools. */
export function createPoolFileHandlers(deps: PoolFileDeps): Handlers {
  const { poolFiles, objects } = deps;
  const find = async ({ caller, params }: Pick<PutFile, "caller" | "params">): Promise<PoolFileRecord> => {
    const found = await poolFiles.find(toKey(caller, params), params.file);
    if (found === null) throw noFile();
    return found;
  };
  return {
    listPoolFiles: async ({ caller, params, query }) => {
      const page = await poolFiles.list(toKey(caller, params), { ...readPage(query), text: query.q });
      if (page === null) throw noPool();
      return { status: 200, body: { items: page.items.map(toFileBody), nextCursor: page.nextCursor } };
    },
    putPoolFile: async (request) => {
      try {
        const stored = await deps.uploads.admit(request.caller, () => putFile(deps, request));
        return { status: 201, body: toFileBody(stored), headers: { location: nameFile(stored) } };
      } catch (error) {
        // A client that is still sending would not read the answer.
        request.body.resume();
        throw explainStoreError(error, "The file");
      }
    },
    getPoolFile: async (request) => ({ status: 200, body: toFileBody(await find(request)) }),
    downloadPoolFile: async (request) => {
      const { hash, bytes, mediaType, name } = await find(request);
      const open = async (range: Parameters<Objects["read"]>[1]) => {
        try {
          return await objects.read(hash, range);
        } catch (error) {
          throw explainStoreError(error, "The file");
        }
      };
      return { status: 200, body: { content: { hash, bytes, open }, type: mediaType, name } };
    },
    renamePoolFile: async ({ caller, params, body }) => {
      requireName(body.name, "/name");
      const renamed = await poolFiles.rename(toKey(caller, params), params.file, body.name);
      if (renamed === null) throw noFile();
      if (renamed === "name taken") throw nameTaken();
      return { status: 200, body: toFileBody(renamed) };
    },
    deletePoolFile: async ({ caller, params }) => {
      if (await poolFiles.delete(toKey(caller, params), params.file)) return { status: 204 };
      throw noFile();
    },
  };
}

/** The cheapest check first; all that can be known before the body is. */
async function putFile(deps: PoolFileDeps, request: PutFile): Promise<PoolFileRecord> {
  const { caller, params, http, body, requireStill } = request;
  requireName(params.file, "/file");
  const expected = readDigest(http.headers["repr-digest"]);
  requireStorable(deps, "The file");
  await requireWritable(deps, caller, params.id);
  if (Number(http.headers["content-length"] ?? "0") > deps.maxFileBytes) throw tooLarge(deps.maxFileBytes);
  const received = await receive(deps, body);
  try {
    if (expected !== null && expected !== received.hash) throw new Problem("CHECKSUM_MISMATCH");
    // An upload may take an hour.
    await requireStill();
    await received.keep();
    const { hash, bytes } = received;
    const stored = await deps.poolFiles.put({
      ...toKey(caller, params),
      name: params.file,
      mediaType: toMediaType(http.headers["content-type"]),
      hash,
      bytes,
      createdBy: caller.userId,
      mayReplace: http.headers["if-none-match"] !== "*",
    });
    if (stored === null) throw noPool();
    if (typeof stored === "string") throw nameTaken();
    return stored;
  } finally {
    await received.drop();
  }
}

/** Asked again when the file is stored: an upload may take an hour. @throws Problem NOT_FOUND, FORBIDDEN */
async function requireWritable(
  { dataPools }: PoolFileDeps,
  { organisationId }: PlatformCaller,
  id: string,
): Promise<void> {
  const pool = await dataPools.find(organisationId, id);
  if (pool === null) throw noPool();
  if (pool.role === "viewer") throw refusePool(pool, "write");
}

async function receive(deps: PoolFileDeps, body: PutFile["body"]): Promise<ReceivedObject> {
  const { maxFileBytes } = deps;
  try {
    return await receiveUpload(deps, body, maxFileBytes);
  } catch (error) {
    throw error instanceof ObjectTooLarge ? tooLarge(maxFileBytes) : error;
  }
}

const DIGEST = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*(?:,|$)/u;

/** The SHA-256 in hex that a Repr-Digest names; null: there is none. @throws Problem INVALID_INPUT where it names none */
function readDigest(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  const [, digest] = DIGEST.exec([header].flat().join(",")) ?? [];
  if (digest !== undefined) return Buffer.from(digest, "base64").toString("hex");
  throw new Problem(
    "INVALID_INPUT",
    "Repr-Digest has no sha-256=:BASE64: of 32 bytes; leave it out or correct it.",
  );
}

/** @throws Problem INVALID_INPUT */
function requireName(name: string, path: string): void {
  const message = explainFileName(name);
  if (message !== null) throw new Problem("INVALID_INPUT", message, { errors: [{ path, message }] });
}

function toKey({ organisationId }: PlatformCaller, { id }: { readonly id: string }) {
  return { organisationId, poolId: id };
}

function noPool(): Problem {
  return new Problem("NOT_FOUND", "There is no such data pool.");
}

function noFile(): Problem {
  return new Problem("NOT_FOUND", "There is no such file, or it was deleted or replaced.");
}

function nameTaken(): Problem {
  return new Problem("CONFLICT", "The data pool has a file of this name.");
}

function tooLarge(limit: number): Problem {
  return new Problem("FILE_TOO_LARGE", `The file is larger than ${(limit / GIGABYTE).toFixed(2)} GB.`);
}

function nameFile({ poolId, id }: PoolFileRecord): string {
  return `/api/data-pools/${poolId}/files/${id}`;
}

function toFileBody(file: PoolFileRecord): PoolFile {
  const { id: fileId, poolId: dataPoolId, descriptorId: dataSourceDescriptorId } = file;
  return {
    fileId,
    dataSourceDescriptorId,
    name: file.name,
    bytes: file.bytes,
    type: file.mediaType,
    sha256: file.hash,
    createdAt: formatTimestamp(file.createdAt),
    createdBy: file.createdBy,
    reference: { dataPoolId, dataSourceDescriptorId, fileId },
  };
}
