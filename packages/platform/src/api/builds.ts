import type { Readable } from "node:stream";
import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { listRoles } from "@platform/contract/permissions";
import { SERVICES_API } from "@platform/contract/platform-api/services";
import { ProjectError } from "@platform/engine/project/project-error";
import type { OperationHandlers } from "@platform/engine/http/types";
import { readArchivedProject } from "@platform/engine/project/read-project";
import { hashArchive } from "@platform/engine/project/unpack";
import type { UnpackedProject } from "@platform/engine/project/unpack";
import { ObjectTooLarge } from "../objects/object-store.ts";
import type { Objects, ReceivedObject } from "../objects/object-store.ts";
import { noteAudit, noteUnchanged } from "../store/audit/trail.ts";
import type { BuildRecord } from "../store/builds/builds.ts";
import type { ServiceRecord } from "../store/services.ts";
import type { Stores } from "../store/stores.ts";
import { toBuildBody } from "./build-bodies.ts";
import type { PlatformCaller } from "./caller.ts";
import { chooseVersion } from "./next-version.ts";
import type { RequestedVersion } from "./next-version.ts";
import { findService } from "./find-service.ts";
import { explainStoreError, requireStorable } from "./store-problems.ts";
import type { ContentRoom } from "./store-problems.ts";
import { receiveUpload } from "./receive-upload.ts";
import type { ReceiveUploadDeps } from "./receive-upload.ts";
import type { UploadGate } from "./upload-gate.ts";

type Handlers = Pick<OperationHandlers<typeof SERVICES_API, PlatformCaller>, "createVersion">;

/** What the handlers work with. */
interface Deps
  extends
    Pick<Stores, "services" | "versions" | "builds">,
    ContentRoom,
    Pick<ReceiveUploadDeps, "uploadPace"> {
  readonly objects: Objects;
  readonly uploads: UploadGate;
  /** Size of the largest archive that is accepted. */
  readonly maxArchiveBytes: number;
}

interface Upload {
  readonly archive: ReceivedObject;
  readonly content: UnpackedProject;
}

/** A checked upload, and what is requested for it. */
interface BuildOrder {
  readonly caller: PlatformCaller;
  readonly service: ServiceRecord;
  readonly upload: Upload;
  readonly requested: RequestedVersion;
  /** Accept a schema that breaks callers of the same major version. */
  readonly isForced: boolean;
}

type CreateVersion = Parameters<Handlers["createVersion"]>[0];
type CreateVersionReply = Awaited<ReturnType<Handlers["createVersion"]>>;

/** Concurrent uploads for one service may choose the same number; all but one try the next number, so many times. */
const MAX_TRIES = 5;

/** Handlers that receive uploads. */
export function createBuildHandlers(deps: Deps): Handlers {
  return {
    createVersion: async (request) => {
      try {
        return await deps.uploads.admit(request.caller, () => createVersion(deps, request));
      } catch (error) {
        // Read and drop the rest of the upload: a client that is still sending would not read the answer.
        request.body.resume();
        throw error;
      }
    },
  };
}

async function createVersion(
  deps: Deps,
  { caller, params, query, body, http, requireStill }: CreateVersion,
): Promise<CreateVersionReply> {
  const service = await findService(deps.services, caller, params.key);
  requireStorable(deps, "The archive");
  await deps.builds.checkQuota(caller.organisationId);
  const archive = await receiveArchive(deps, body, http.headers["content-length"]);
  try {
    // An upload may take an hour.
    await requireStill();
    const upload = { archive, content: await inspectArchive(service, archive.path) };
    const unchanged = await findUnchanged(deps, caller, service, upload.content.hash);
    if (unchanged) {
      noteUnchanged();
      return { status: 200, body: toBuildBody(unchanged, [], 0) };
    }
    const requested =
      query.version === undefined ? { bump: query.bump ?? "patch" } : { version: query.version };
    const order = { caller, service, upload, requested, isForced: query.force === "true" };
    const build = await createBuild(deps, order);
    return {
      status: 201,
      body: toBuildBody(build, [], 0),
      headers: { location: `/api/services/${service.key}/versions/${build.version}/build` },
    };
  } finally {
    await archive.drop();
  }
}

/** @throws Problem ARCHIVE_TOO_LARGE, UNAVAILABLE */
async function receiveArchive(
  deps: Deps,
  body: Readable,
  contentLength: string | undefined,
): Promise<ReceivedObject> {
  const limit = deps.maxArchiveBytes;
  if (Number(contentLength ?? "0") > limit) throw tooLarge(limit);
  try {
    return await receiveUpload(deps, body, limit);
  } catch (error) {
    if (error instanceof ObjectTooLarge) throw tooLarge(limit);
    throw explainStoreError(error, "The archive");
  }
}

/**
 * Checks the archive without unpacking it, the cheapest check first, and returns what it contains.
 *
 * @throws Problem ARCHIVE_TOO_LARGE, INVALID_ARCHIVE, INVALID_PROJECT
 */
async function inspectArchive(service: ServiceRecord, path: string): Promise<UnpackedProject> {
  try {
    const { name } = await readArchivedProject(path);
    if (name !== service.name) throw wrongName(service.name, name);
    return await hashArchive(path);
  } catch (error) {
    throw error instanceof ProjectError ? toProblem(error) : error;
  }
}

function tooLarge(limit: number): Problem {
  return new Problem(
    "ARCHIVE_TOO_LARGE",
    `The archive is larger than ${limit} bytes; exclude data from it with .platformignore.`,
  );
}

function wrongName(expected: string, found: string): Problem {
  const message = `name is "${found}", but the service is called "${expected}".`;
  return new Problem("INVALID_PROJECT", `platform.json: ${message}`, {
    errors: [{ path: "/name", message }],
  });
}

function toProblem(error: ProjectError): Problem {
  const options = { cause: error, ...(error.errors.length > 0 ? { errors: error.errors } : {}) };
  switch (error.code) {
    case "INVALID_ARCHIVE":
    case "ARCHIVE_TOO_LARGE":
    case "INVALID_PROJECT":
      return new Problem(error.code, error.detail, options);
    case "BACKEND_NOT_DESCRIBED":
    case "BACKEND_TOO_LARGE":
      return new Problem("INVALID_PROJECT", error.detail, options);
    case "PROJECT_TOO_LARGE":
      return new Problem("ARCHIVE_TOO_LARGE", error.detail, options);
    case "INTERPRETER_NOT_FOUND":
    case "BUILD_FAILED":
    case "BUILD_TIMEOUT":
    case "BUILD_CANCELLED":
      return new Problem("UNAVAILABLE", error.detail, options);
    default:
      return error.code satisfies never;
  }
}

/**
 * The newest build, live or under way, if it has this content. Deploying the content of an older version is a change, and so is any that is live of an
 * external backend: what it describes is told elsewhere.
 */
async function findUnchanged(
  deps: Deps,
  caller: PlatformCaller,
  service: ServiceRecord,
  contentHash: string,
): Promise<BuildRecord | null> {
  const highest = await deps.versions.findHighest(caller.organisationId, service.key);
  const newest =
    highest === null ? null : await deps.builds.findLatest(caller.organisationId, service.key, highest);
  if (newest && !isFinal(newest.status)) return newest.contentHash === contentHash ? newest : null;
  const latest = await deps.versions.findLatest(caller.organisationId, service.key);
  if (latest === null || latest.isExternal || latest.contentHash !== contentHash) return null;
  return await deps.builds.findLatest(caller.organisationId, service.key, latest.version);
}

async function createBuild(deps: Deps, order: BuildOrder): Promise<BuildRecord> {
  const { caller, service, upload, requested } = order;
  for (let tries = 1; ; tries++) {
    const highest = await deps.versions.findHighest(caller.organisationId, service.key);
    const version = chooseVersion(highest, requested);
    if ("version" in requested && (await deps.versions.find(caller.organisationId, service.key, version))) {
      throw new Problem("CONFLICT", `Version ${version} exists already, and versions never change.`);
    }
    await upload.archive.keep().catch((error: unknown) => {
      throw explainStoreError(error, "The archive");
    });
    try {
      return await storeBuild(deps, order, version);
    } catch (error) {
      const isRaced = error instanceof Problem && error.code === "CONFLICT" && !("version" in requested);
      if (!isRaced || tries >= MAX_TRIES) throw error;
    }
  }
}

/** Who was demoted since they were asked is refused, too. @throws Problem CONFLICT, SERVICE_NOT_FOUND, QUOTA_EXCEEDED, FORBIDDEN */
async function storeBuild(
  { builds }: Deps,
  { caller, service, upload, isForced }: BuildOrder,
  version: string,
): Promise<BuildRecord> {
  const wanted = {
    organisationId: caller.organisationId,
    serviceKey: service.key,
    version,
    archiveHash: upload.archive.hash,
    contentHash: upload.content.hash,
    isForced,
    requestedBy: caller.userId,
  };
  noteAudit({ target: [service.key, version] });
  const build = await builds.create(wanted, {
    storedBytes: upload.archive.bytes + upload.content.bytes,
    roles: listRoles(SERVICES_API.createVersion),
  });
  if (!build) throw new Problem("SERVICE_NOT_FOUND");
  return build;
}
