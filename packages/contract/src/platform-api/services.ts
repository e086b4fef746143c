import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "../execution.ts";
import type { OperationTable } from "../operation.ts";
import { ResourcesSchema } from "../project.ts";
import { AUTHENTICATED, KeyParams, PageQuerySchema, ServiceName, Timestamp, pageOf } from "./common.ts";

export const ServiceSchema = Type.Object(
  {
    key: Type.String({ description: "Stable UUID; first segment of every endpoint URL" }),
    name: ServiceName,
    description: Type.String(),
    publication: Type.Union([Type.Null(), Type.Literal("internal")], {
      description: "null: nobody can subscribe; internal: applications of the organisation can",
    }),
    latestVersion: Type.Union([Type.String(), Type.Null()]),
    createdAt: Timestamp,
  },
  { title: "Service" },
);

export type Service = Static<typeof ServiceSchema>;

export const VersionSchema = Type.Object(
  {
    version: Type.String({ description: "MAJOR.MINOR.PATCH" }),
    state: Type.Union([Type.Literal("LIVE"), Type.Literal("RETIRED")]),
    resources: ResourcesSchema,
    timeoutSeconds: Type.Integer(),
    inputSchema: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
    createdAt: Timestamp,
    retiredAt: Type.Union([Timestamp, Type.Null()]),
  },
  { title: "Version" },
);

export type Version = Static<typeof VersionSchema>;

export const BuildSchema = Type.Object(
  {
    version: Type.String(),
    state: ExecutionStatusSchema,
    terminal: Type.Boolean(),
    code: Type.Optional(Type.String()),
    detail: Type.Optional(Type.String()),
    createdAt: Timestamp,
    startedAt: Type.Optional(Timestamp),
    endedAt: Type.Optional(Timestamp),
    log: Type.Array(Type.String(), { description: "Lines from `offset` on" }),
    nextOffset: Type.Integer({ description: "Pass as `offset` to read on" }),
  },
  { title: "Build" },
);

export type Build = Static<typeof BuildSchema>;

const VersionParams = Type.Object({
  key: Type.String(),
  version: Type.String({ description: "MAJOR.MINOR.PATCH" }),
});

/** Services and their versions. */
export const SERVICES_API = {
  listServices: {
    method: "GET",
    path: "/services",
    summary: "Services of the organisation, newest first",
    query: Type.Object({
      ...PageQuerySchema.properties,
      name: Type.Optional(Type.String({ description: "Only the service of this name" })),
    }),
    responses: { 200: { description: "One page", schema: pageOf(ServiceSchema) } },
    problems: AUTHENTICATED,
  },
  createService: {
    method: "POST",
    path: "/services",
    summary: "Create a service without versions",
    body: Type.Object(
      { name: ServiceName, description: Type.Optional(Type.String({ maxLength: 65_536 })) },
      { additionalProperties: false },
    ),
    responses: { 201: { description: "Created", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "INVALID_INPUT", "CONFLICT"],
  },
  getService: {
    method: "GET",
    path: "/services/{key}",
    summary: "One service",
    params: KeyParams,
    responses: { 200: { description: "Service", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
  publishService: {
    method: "POST",
    path: "/services/{key}/publish",
    summary: "Let applications subscribe",
    params: KeyParams,
    body: Type.Object({ scope: Type.Literal("internal") }, { additionalProperties: false }),
    responses: { 200: { description: "Published", schema: ServiceSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND", "INVALID_INPUT", "CONFLICT"],
  },
  listVersions: {
    method: "GET",
    path: "/services/{key}/versions",
    summary: "Versions of a service, newest first",
    params: KeyParams,
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf(VersionSchema) } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
  createVersion: {
    method: "POST",
    path: "/services/{key}/versions",
    summary: "Upload a project and build a version of it",
    description:
      "Unchanged content makes no new version: the answer is then 200 with the version that has it.",
    params: KeyParams,
    query: Type.Object({
      bump: Type.Optional(
        Type.Union([Type.Literal("patch"), Type.Literal("minor"), Type.Literal("major")], {
          description: "Default patch; the first version is 1.0.0",
        }),
      ),
      version: Type.Optional(
        Type.String({
          pattern: "^(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})$",
          description: "Exactly this version",
        }),
      ),
      force: Type.Optional(
        Type.Literal("true", { description: "Accept a schema that breaks callers of the same major" }),
      ),
    }),
    bodyType: "application/zip",
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
      "INVALID_INPUT",
      "INVALID_PROJECT",
      "INVALID_ARCHIVE",
      "ARCHIVE_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "CONFLICT",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
      "UNAVAILABLE",
    ],
  },
  getBuild: {
    method: "GET",
    path: "/services/{key}/versions/{version}/build",
    summary: "State and log of the latest build of a version",
    params: VersionParams,
    query: Type.Object({
      offset: Type.Optional(
        Type.String({ pattern: "^[0-9]{1,9}$", description: "First log line wanted; default 0" }),
      ),
    }),
    responses: { 200: { description: "Build", schema: BuildSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND", "INVALID_INPUT"],
  },
  retireVersion: {
    method: "POST",
    path: "/services/{key}/versions/{version}/retire",
    summary: "Take no new executions; running ones finish and results stay",
    params: VersionParams,
    responses: { 200: { description: "Retired", schema: VersionSchema } },
    problems: [...AUTHENTICATED, "SERVICE_NOT_FOUND"],
  },
} as const satisfies OperationTable;
