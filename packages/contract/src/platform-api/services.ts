import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "../execution.ts";
import type { OperationTable } from "../operation.ts";
import { ResourcesSchema } from "../project.ts";
import { JsonObject, Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { AUTHENTICATED, KeyParams, PageQuerySchema, ServiceName, VersionNumber } from "./common.ts";

export const ServiceSchema = Type.Object(
  {
    key: Type.String({ description: "Stable UUID; first segment of every endpoint URL" }),
    name: ServiceName,
    description: Type.String({ description: "Markdown text" }),
    publication: Nullable(StringEnum(["internal"]), {
      description: "null: nobody can subscribe; internal: applications of the organisation can",
    }),
    latestVersion: Nullable(VersionNumber, { description: "The highest live version; null: there is none" }),
    createdAt: Timestamp("When it was created"),
  },
  { title: "Service", description: "A Python function behind an endpoint, in versions" },
);

export type Service = Static<typeof ServiceSchema>;

export const VersionSchema = Type.Object(
  {
    version: VersionNumber,
    status: StringEnum(["LIVE", "RETIRED"], {
      title: "VersionState",
      description: "LIVE: takes executions. RETIRED: takes no new ones",
    }),
    resources: ResourcesSchema,
    timeoutSeconds: Type.Integer({ description: "Wall-clock limit of one execution in seconds" }),
    inputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of the input, from the type hints of run; null: there are none",
    }),
    createdAt: Timestamp("When it was created"),
    retiredAt: Nullable(Timestamp("When it was retired"), {
      description: "When it was retired; null while it is live",
    }),
  },
  { title: "Version", description: "One built version of a service" },
);

export type Version = Static<typeof VersionSchema>;

export const BuildSchema = Type.Object(
  {
    version: VersionNumber,
    status: ExecutionStatusSchema,
    terminal: Type.Boolean({ description: "Whether the status is final" }),
    code: Type.Optional(Type.String({ description: "Why it made no version (FAILED, UNKNOWN)" })),
    detail: Type.Optional(Type.String({ description: "The same for people" })),
    createdAt: Timestamp("When the build became durable"),
    startedAt: Type.Optional(Timestamp("When it began")),
    endedAt: Type.Optional(Timestamp("When it reached its final state")),
    log: Type.Array(Type.String(), { description: "Lines from `offset` on" }),
    nextOffset: Type.Integer({ description: "Pass as `offset` to read on" }),
  },
  { title: "Build", description: "State and log of a build" },
);

export type Build = Static<typeof BuildSchema>;

const VersionParams = Type.Object({
  key: Type.String({ description: "Key of the service" }),
  version: VersionNumber,
});

/** Services and their versions. */
export const SERVICES_API = {
  listServices: {
    method: "GET",
    path: "/services",
    allows: "read",
    scope: "organisation",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "json",
    summary: "List the services of the organisation",
    description: "Newest first.",
    query: Type.Object({
      ...PageQuerySchema.properties,
      name: Type.Optional(Type.String({ description: "Only the service of this name" })),
    }),
    responses: { 200: { description: "One page", schema: pageOf("ServicePage", ServiceSchema) } },
    problems: AUTHENTICATED,
  },
  createService: {
    method: "POST",
    path: "/services",
    allows: "write",
    scope: "organisation",
    audit: "service.create",
    rate: "write",
    bodyMode: "json",
    answerMode: "json",
    summary: "Create a service",
    description: "It has no versions yet; names are unique in the organisation.",
    body: Type.Object(
      {
        name: ServiceName,
        description: Type.Optional(Type.String({ maxLength: 65_536, description: "Markdown text" })),
      },
      {
        additionalProperties: false,
        title: "CreateServiceRequest",
        description: "The service to create",
      },
    ),
    responses: { 201: { description: "Created", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "CONFLICT"],
  },
  getService: {
    method: "GET",
    path: "/services/{key}",
    allows: "read",
    scope: "organisation",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "json",
    summary: "Get a service",
    description: "Only services of the organisation in use are found.",
    params: KeyParams,
    responses: { 200: { description: "Service", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
  publishService: {
    method: "POST",
    path: "/services/{key}/publish",
    allows: "write",
    scope: "organisation",
    audit: "service.publish",
    rate: "write",
    bodyMode: "json",
    answerMode: "json",
    summary: "Let applications subscribe to a service",
    description: "Applications of the organisation can subscribe from then on.",
    params: KeyParams,
    body: Type.Object(
      { scope: StringEnum(["internal"], { description: "Who may subscribe: the own organisation" }) },
      {
        additionalProperties: false,
        title: "PublishServiceRequest",
        description: "Who may subscribe",
      },
    ),
    responses: { 200: { description: "Published", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND", "CONFLICT"],
  },
  listVersions: {
    method: "GET",
    path: "/services/{key}/versions",
    allows: "read",
    scope: "organisation",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "json",
    summary: "List the versions of a service",
    description: "Newest first; retired ones are listed as well.",
    params: KeyParams,
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf("VersionPage", VersionSchema) } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
  createVersion: {
    method: "POST",
    path: "/services/{key}/versions",
    allows: "write",
    scope: "organisation",
    audit: "version.create",
    rate: "upload",
    bodyMode: "stream",
    answerMode: "json",
    summary: "Upload a project and build a version of it",
    description:
      "Unchanged content makes no new version: the answer is then 200 with the version that has it.",
    params: KeyParams,
    query: Type.Object({
      bump: Type.Optional(
        StringEnum(["patch", "minor", "major"], {
          description: "Which number to raise, default patch; the first version is 1.0.0",
        }),
      ),
      version: Type.Optional(
        Type.String({
          pattern: "^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})$",
          description: "Exactly this version",
        }),
      ),
      force: Type.Optional(
        StringEnum(["true"], { description: "Accept a schema that breaks callers of the same major" }),
      ),
    }),
    responses: {
      200: { description: "Nothing changed", schema: BuildSchema },
      201: {
        description: "The build is durable; follow it under Location",
        schema: BuildSchema,
        headers: { Location: "URL of the build" },
      },
    },
    problems: [
      ...AUTHENTICATED,
      "SERVICE_NOT_FOUND",
      "INVALID_PROJECT",
      "INVALID_ARCHIVE",
      "ARCHIVE_TOO_LARGE",
      "CONFLICT",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  getBuild: {
    method: "GET",
    path: "/services/{key}/versions/{version}/build",
    allows: "read",
    scope: "organisation",
    audit: null,
    rate: "poll",
    bodyMode: "none",
    answerMode: "json",
    summary: "Get state and log of the latest build of a version",
    description: "The log comes in pages of lines; `nextOffset` says where to read on.",
    params: VersionParams,
    query: Type.Object({
      offset: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 999_999_999,
          default: 0,
          description: "Number of the first log line wanted",
        }),
      ),
    }),
    responses: { 200: { description: "Build", schema: BuildSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
  retireVersion: {
    method: "POST",
    path: "/services/{key}/versions/{version}/retire",
    allows: "write",
    scope: "organisation",
    audit: "version.retire",
    rate: "write",
    bodyMode: "none",
    answerMode: "json",
    summary: "Retire a version",
    description: "It takes no new executions; running ones finish and results stay.",
    params: VersionParams,
    responses: { 200: { description: "Retired", schema: VersionSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
} as const satisfies OperationTable;
