import { Type } from "typebox";
import { REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";

/** Path of uploads that can be resumed, below the prefix of the platform API. */
export const UPLOADS_PATH = "/uploads";

/** The version of the tus protocol, which every request but OPTIONS names. */
export const TUS_VERSION = "1.0.0";

/** The media type of a part of an upload. */
export const PART_TYPE = "application/offset+octet-stream";

/** The headers that uploads have of their own. */
const OFFSET = { "upload-offset": "How much of the content is stored, in bytes" };
const FILE_ID = { "upload-file-id": "Identifier of the file, once all of it is stored" };

const UploadParams = Type.Object({ id: Type.String({ description: "Identifier of the upload" }) });

const APPENDS = {
  ...WRITES,
  path: `${UPLOADS_PATH}/{id}`,
  allows: "edit",
  audit: "pool-file.create",
  // Not counted: a client may send parts as small as it likes. How many run at once is.
  rate: "poll",
  bodyMode: "file",
  answerMode: "none",
  params: UploadParams,
  responses: { 204: { description: "Stored", headers: { ...OFFSET, ...FILE_ID } } },
  problems: [
    "NOT_FOUND",
    "CONFLICT",
    "UPLOAD_LOCKED",
    "UPLOAD_EXPIRED",
    "FILE_TOO_LARGE",
    "CHECKSUM_MISMATCH",
    "UPLOAD_CHECKSUM_MISMATCH",
    "QUOTA_EXCEEDED",
    "TUS_VERSION_UNSUPPORTED",
  ],
} as const;

/**
 * Uploads that can be resumed, by tus 1.0.0 (https://tus.io/protocols/resumable-upload): a table of its own, in no OpenAPI document,
 * since its requests and answers are those of that protocol.
 */
export const UPLOADS_API = {
  describeUploads: {
    method: "OPTIONS",
    path: UPLOADS_PATH,
    allows: "public",
    scope: "platform",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "none",
    summary: "Say what of tus is supported",
    description: "Version, extensions, sums and the largest size are headers of the answer.",
    responses: { 204: { description: "What is supported" } },
  },
  createUpload: {
    ...WRITES,
    path: UPLOADS_PATH,
    allows: "edit",
    audit: "pool-file.create",
    rate: "upload",
    bodyMode: "file",
    answerMode: "none",
    summary: "Begin an upload",
    description: "Its metadata are dataPoolId, filename, filetype and sha256. It may have the first part.",
    responses: { 201: { description: "Begun", headers: { ...OFFSET, ...FILE_ID } } },
    problems: APPENDS.problems,
  },
  getUpload: {
    ...APPENDS,
    method: "HEAD",
    bodyMode: "none",
    summary: "Say how much has arrived",
    description: "All that is counted lasts through a power cut.",
    responses: { 200: { description: "How much there is", headers: { ...OFFSET, ...FILE_ID } } },
  },
  appendToUpload: {
    ...APPENDS,
    method: "PATCH",
    summary: "Send a part",
    description: "The last one stores the file.",
  },
  appendToUploadByPost: {
    ...APPENDS,
    method: "POST",
    summary: "Send a part, where PATCH cannot be sent",
    description: "With X-HTTP-Method-Override: PATCH.",
  },
  deleteUpload: {
    ...REMOVES,
    path: `${UPLOADS_PATH}/{id}`,
    allows: "edit",
    audit: null,
    rate: "poll",
    params: UploadParams,
    summary: "Give up an upload",
    description: "What has arrived is removed.",
    responses: { 204: { description: "Given up" } },
    problems: ["NOT_FOUND", "UPLOAD_EXPIRED", "TUS_VERSION_UNSUPPORTED"],
  },
} as const satisfies OperationTable;
