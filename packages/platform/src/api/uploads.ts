import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { TUS_VERSION, UPLOADS_API, UPLOADS_PATH } from "@platform/contract/platform-api/uploads";
import { PLATFORM_API_PREFIX } from "@platform/contract/platform-api/openapi";
import { Problem } from "@platform/contract/problems";
import { registerOperations } from "@platform/engine/http/pipeline";
import type { PipelineOptions } from "@platform/engine/http/pipeline";
import type { OperationHandlers } from "@platform/engine/http/types";
import { createUploads } from "../pools/uploads.ts";
import type { UploadState, Uploads } from "../pools/uploads.ts";
import type { UploadsOptions } from "../pools/upload-turn.ts";
import { noteUnchanged } from "../store/audit/trail.ts";
import type { UploadKey } from "../store/pools/uploads.ts";
import type { PlatformCaller } from "./caller.ts";
import { explainStoreError } from "./store-problems.ts";
import { SUMS, readCreation, readOffset, readPartLength, readSum, requirePartType } from "./tus-headers.ts";
import { createUploadGate } from "./upload-gate.ts";
import type { UploadGate, UploadLimits } from "./upload-gate.ts";

type Handlers = OperationHandlers<typeof UPLOADS_API, PlatformCaller>;
type Append = Parameters<Handlers["appendToUpload"]>[0];

/** What the routes work with. */
export interface UploadRoutesOptions extends UploadsOptions {
  /** Size of the largest file. */
  readonly maxFileBytes: number;
  /** How many parts are received at the same time. */
  readonly limits?: UploadLimits;
  /** The stages that requests pass, those of the platform API. */
  readonly stages: Omit<PipelineOptions<typeof UPLOADS_API, PlatformCaller>, "prefix" | "handlers">;
}

const PART_LIMITS: UploadLimits = { perOrganisation: 8, inAll: 32, mayEnd: true };

/** Uploads that can be resumed, by tus 1.0.0: `/api/uploads`. */
export async function registerUploads(app: FastifyInstance, options: UploadRoutesOptions): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook("onRequest", async (request, reply) => {
      reply.headers({ "tus-resumable": TUS_VERSION, "cache-control": "no-store" });
      if (request.method === "OPTIONS" || request.headers["tus-resumable"] === TUS_VERSION) return;
      throw new Problem("TUS_VERSION_UNSUPPORTED", undefined, { headers: { "tus-version": TUS_VERSION } });
    });
    await registerOperations(scope, UPLOADS_API, {
      ...options.stages,
      prefix: PLATFORM_API_PREFIX,
      handlers: createHandlers(options),
    });
  });
}

function createHandlers({ maxFileBytes, limits = PART_LIMITS, ...options }: UploadRoutesOptions): Handlers {
  const uploads = createUploads(options);
  const append = createAppend(uploads, createUploadGate(limits));
  return {
    describeUploads: () => ({
      status: 204,
      headers: {
        "tus-version": TUS_VERSION,
        "tus-extension": "creation,creation-with-upload,checksum,termination,expiration",
        "tus-checksum-algorithm": SUMS,
        "tus-max-size": String(maxFileBytes),
      },
    }),
    createUpload: async (request) => {
      try {
        const state = await create(uploads, append, { request, maxFileBytes });
        noteUnchanged();
        const location = `${PLATFORM_API_PREFIX}${UPLOADS_PATH}/${state.id}`;
        return { status: 201, headers: { ...describe(state), location } };
      } catch (error) {
        throw refuse(request.body, error);
      }
    },
    getUpload: async ({ caller, params, requireStill }) => {
      const state = await uploads.find(toKey(caller, params.id), requireStill).catch(lock);
      noteUnchanged();
      const known = { "upload-length": String(state.bytes), "upload-metadata": state.metadata };
      return { status: 200, headers: { ...describe(state), ...known } };
    },
    ...createAppendHandlers(append),
    deleteUpload: async ({ caller, params }) => {
      await uploads.giveUp(toKey(caller, params.id));
      return { status: 204 };
    },
  };
}

function createAppendHandlers(append: AppendPart): Pick<Handlers, "appendToUpload" | "appendToUploadByPost"> {
  const appendTo = async (request: Append) => {
    const { http, caller, params, body } = request;
    try {
      requirePartType(http.headers);
      const state = await append(request, toKey(caller, params.id), readOffset(http.headers));
      // Where the file was stored, its entry of the audit log was written with it.
      noteUnchanged();
      return { status: 204 as const, headers: describe(state) };
    } catch (error) {
      throw refuse(body, error);
    }
  };
  return {
    appendToUpload: appendTo,
    appendToUploadByPost: async (request) => {
      if (request.http.headers["x-http-method-override"] === "PATCH") return await appendTo(request);
      throw refuse(
        request.body,
        new Problem("INVALID_INPUT", "A POST to an upload needs X-HTTP-Method-Override: PATCH."),
      );
    },
  };
}

type AppendPart = (
  request: Pick<Append, "http" | "body" | "requireStill">,
  key: UploadKey,
  offset: number,
) => Promise<UploadState>;

function createAppend(uploads: Uploads, gate: UploadGate): AppendPart {
  return ({ http, body: content, requireStill }, key, offset) => {
    const { headers } = http;
    const part = { content, offset, bytes: readPartLength(headers), sum: readSum(headers), requireStill };
    return admit(gate, key, (yielding) => uploads.append(key, { ...part, yielding }));
  };
}

interface Creation {
  readonly request: Parameters<Handlers["createUpload"]>[0];
  readonly maxFileBytes: number;
}

async function create(
  uploads: Uploads,
  append: AppendPart,
  { request, maxFileBytes }: Creation,
): Promise<UploadState> {
  const { caller, http } = request;
  const { userId, organisationId } = caller;
  const head = readCreation(http.headers, maxFileBytes);
  const hasPart = http.headers["content-type"] !== undefined;
  if (hasPart) requirePartType(http.headers);
  const begun = await uploads.begin({ ...head, userId, organisationId });
  // Nothing is missing of an empty file, and no part of it comes.
  if (!hasPart && head.bytes > 0) return begun;
  const key = toKey(caller, begun.id);
  try {
    return await append(request, key, 0);
  } catch (error) {
    // Its client was not told where it is.
    await uploads.giveUp(key).catch(() => undefined);
    throw error;
  }
}

/** Clients try 503 again, and give up at 429. */
async function admit<T>(
  gate: UploadGate,
  key: UploadKey,
  work: (yielding: AbortSignal) => Promise<T>,
): Promise<T> {
  let isAdmitted = false;
  try {
    return await gate.admit(key, (yielding) => {
      isAdmitted = true;
      return work(yielding);
    });
  } catch (error) {
    if (isAdmitted || !(error instanceof Problem) || error.code !== "RATE_LIMITED") throw error;
    throw new Problem("UNAVAILABLE", error.message, { headers: error.headers });
  }
}

/** Clients that hear anything but 423 for a HEAD begin anew. */
function lock(error: unknown): never {
  const explained = explainStoreError(error, "The file");
  if (!(explained instanceof Problem) || explained.status !== 503) throw explained;
  throw new Problem("UPLOAD_LOCKED", explained.message, { headers: explained.headers, cause: error });
}

/** A client that is still sending would not read the answer. */
function refuse(body: Readable, error: unknown): unknown {
  body.resume();
  return explainStoreError(error, "The file");
}

function toKey({ organisationId, userId }: PlatformCaller, id: string): UploadKey {
  return { organisationId, userId, id };
}

/** The offset of one that is whole but not stored is never said: its client would take it for done. */
function describe({ received, fileId, isStored, expiresAt }: UploadState): Readonly<Record<string, string>> {
  return {
    "upload-offset": String(received),
    ...(isStored ? {} : { "upload-expires": new Date(expiresAt).toUTCString() }),
    ...(fileId === null ? {} : { "upload-file-id": fileId }),
  };
}
