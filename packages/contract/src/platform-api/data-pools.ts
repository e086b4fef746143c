import { Type } from "typebox";
import type { Static } from "typebox";
import { FileReferenceSchema } from "../execution.ts";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { VISIBLE } from "../visible-text.ts";
import { StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { DisplayName, NameQuery, idOf } from "./common.ts";

const Description = Type.String({
  maxLength: 500,
  pattern: `^${VISIBLE}`,
  description: "What the files are, one line",
});

const DataPoolSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the data pool" }),
    name: Type.String({ description: "Display name" }),
    description: Description,
    fileCount: Type.Integer({ description: "How many files it has" }),
    bytes: Type.Integer({ description: "Size of its files together, in bytes" }),
    organizationId: Type.String({ description: "Identifier of the organisation that it belongs to" }),
    organizationName: Type.String({ description: "Name of the organisation that it belongs to" }),
    role: StringEnum(["viewer", "maintainer", "owner"], {
      description:
        "What the organisation in use may do: owner, of its own; of one that is shared with it viewer or maintainer",
    }),
    createdAt: Timestamp("When it was created"),
  },
  { title: "DataPool", description: "Files of an organisation, which executions read" },
);

/** Files of an organisation. */
export type DataPool = Static<typeof DataPoolSchema>;

const PoolFileSchema = Type.Object(
  {
    fileId: Type.String({
      format: "uuid",
      description: "Identifier of this content: a file that takes its place has another",
    }),
    dataSourceDescriptorId: Type.String({
      format: "uuid",
      description: "Identifier of the place in the pool: it stays when the file is renamed or replaced",
    }),
    name: Type.String({ description: "Name, unique in the pool without regard to case" }),
    bytes: Type.Integer({ description: "Size in bytes" }),
    type: Type.String({ description: "Media type" }),
    sha256: Type.String({ description: "SHA-256 of the content in hex" }),
    createdAt: Timestamp("When this content came"),
    createdBy: Type.String({ description: "Name of the user who sent it" }),
    reference: FileReferenceSchema,
  },
  {
    title: "PoolFile",
    description: "A file of a data pool; `reference` is what a start takes as dataRef or paramsRef",
  },
);

/** A file of a data pool. */
export type PoolFile = Static<typeof PoolFileSchema>;

const PoolSettings = {
  name: DisplayName,
  description: Description,
};

const FileName = Type.String({
  description:
    "Name: 1 to 200 characters, at most 255 bytes in UTF-8, without folders and characters that are not seen",
});

const FileParams = Type.Object({
  ...idOf("data pool").properties,
  file: Type.String({ description: "Identifier of the file" }),
});

const NameParams = Type.Object({
  ...idOf("data pool").properties,
  file: FileName,
});

const FileQuery = Type.Object({
  ...PageQuery.properties,
  q: Type.Optional(
    Type.String({
      maxLength: SEARCH_LIMITS.poolFile,
      description: "Only files whose name contains this text; capital letters do not matter",
    }),
  ),
});

/** Data pools of the organisation, and their files. */
export const DATA_POOLS_API = {
  listDataPools: {
    ...READS,
    path: "/data-pools",
    summary: "List the data pools of the organisation",
    description: "Its own and those that others share with it, by name.",
    query: NameQuery,
    responses: { 200: { description: "One page", schema: pageOf("DataPoolPage", DataPoolSchema) } },
  },
  createDataPool: {
    ...WRITES,
    path: "/data-pools",
    allows: "edit",
    audit: "data-pool.create",
    summary: "Create a data pool",
    description: "It has no files yet. Its name is unique in the organisation, without regard to case.",
    body: Type.Object(
      { name: PoolSettings.name, description: Type.Optional(PoolSettings.description) },
      { additionalProperties: false, title: "CreateDataPoolRequest", description: "The data pool to create" },
    ),
    responses: { 201: { description: "Created", schema: DataPoolSchema } },
    problems: ["CONFLICT", "QUOTA_EXCEEDED"],
  },
  getDataPool: {
    ...READS,
    path: "/data-pools/{id}",
    summary: "Get a data pool",
    description: "Only data pools of the organisation in use are found, and those that are shared with it.",
    params: idOf("data pool"),
    responses: { 200: { description: "Data pool", schema: DataPoolSchema } },
    problems: ["NOT_FOUND"],
  },
  putDataPool: {
    ...WRITES,
    method: "PUT",
    path: "/data-pools/{id}",
    allows: "edit",
    audit: "data-pool.update",
    summary: "Rename or describe a data pool",
    description: "What is absent stays. References to its files stay valid.",
    params: idOf("data pool"),
    body: Type.Object(
      { name: Type.Optional(PoolSettings.name), description: Type.Optional(PoolSettings.description) },
      { additionalProperties: false, title: "PutDataPoolRequest", description: "What is to be changed" },
    ),
    responses: { 200: { description: "Changed", schema: DataPoolSchema } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  deleteDataPool: {
    ...REMOVES,
    path: "/data-pools/{id}",
    allows: "administer",
    audit: "data-pool.delete",
    summary: "Delete a data pool with its files",
    description: "Executions that were started before read what they refer to.",
    params: idOf("data pool"),
    responses: { 204: { description: "Deleted" } },
    problems: ["NOT_FOUND"],
  },
  listPoolFiles: {
    ...READS,
    path: "/data-pools/{id}/files",
    summary: "List the files of a data pool",
    description: "By name.",
    params: idOf("data pool"),
    query: FileQuery,
    responses: { 200: { description: "One page", schema: pageOf("PoolFilePage", PoolFileSchema) } },
    problems: ["NOT_FOUND"],
  },
  putPoolFile: {
    ...WRITES,
    method: "PUT",
    path: "/data-pools/{id}/files/{file}",
    allows: "edit",
    audit: "pool-file.create",
    rate: "upload",
    bodyMode: "file",
    summary: "Store a file under a name",
    description:
      "The body is the content, of any media type. It takes the place of the file of this name, with an identifier of its own; executions that were started before read the former content.",
    params: NameParams,
    headers: Type.Object({
      "repr-digest": Type.Optional(
        Type.String({
          description: "SHA-256 of the content as in RFC 9530, `sha-256=:BASE64:`: other content is refused",
        }),
      ),
      "if-none-match": Type.Optional(
        Type.String({ description: "`*`: refused where there is a file of this name" }),
      ),
    }),
    responses: { 201: { description: "Stored", schema: PoolFileSchema } },
    problems: ["NOT_FOUND", "CONFLICT", "FILE_TOO_LARGE", "CHECKSUM_MISMATCH", "QUOTA_EXCEEDED"],
  },
  getPoolFile: {
    ...READS,
    path: "/data-pools/{id}/files/{file}",
    summary: "Get what is known of a file",
    description: "Not its content.",
    params: FileParams,
    responses: { 200: { description: "File", schema: PoolFileSchema } },
    problems: ["NOT_FOUND"],
  },
  downloadPoolFile: {
    ...READS,
    path: "/data-pools/{id}/files/{file}/content",
    answerMode: "content",
    summary: "Download a file",
    description: "All of it or one range.",
    params: FileParams,
    responses: { 200: { description: "The content" } },
    problems: ["NOT_FOUND"],
  },
  renamePoolFile: {
    ...WRITES,
    method: "PUT",
    path: "/data-pools/{id}/files/{file}/name",
    allows: "edit",
    audit: "pool-file.rename",
    summary: "Rename a file",
    description: "Its identifiers stay, so references to it do.",
    params: FileParams,
    body: Type.Object(
      { name: FileName },
      { additionalProperties: false, title: "RenamePoolFileRequest", description: "The new name" },
    ),
    responses: { 200: { description: "Renamed", schema: PoolFileSchema } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  deletePoolFile: {
    ...REMOVES,
    path: "/data-pools/{id}/files/{file}",
    allows: "edit",
    audit: "pool-file.delete",
    summary: "Delete a file",
    description: "Executions that were started before with a reference to it read it.",
    params: FileParams,
    responses: { 204: { description: "Deleted" } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
