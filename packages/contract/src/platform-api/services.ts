import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ResourcesSchema } from "../project.ts";
import { SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { JsonObject, Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { BuildSchema, VersionParams } from "./builds.ts";
import { KeyParams, ServiceName, VersionNumber } from "./common.ts";

/** Who can subscribe to a service. */
export const Publication = StringEnum(["internal", "marketplace"], {
  title: "Publication",
  description:
    "internal: applications of the organisation can subscribe. marketplace: those of all organisations can",
});

const Logs = StringEnum(["caller", "provider"], {
  title: "LogReaders",
  description:
    "Who reads the logs of what subscribers of other organisations start. caller: they do. provider: they do not",
});

const Description = Type.String({ maxLength: 65_536, description: "Markdown text" });

/** The most days for which any platform keeps executions. */
const MAX_DAYS = 3_650;
const Days = Type.Integer({ minimum: 1, maximum: MAX_DAYS });
const Kept = {
  resultDays: Nullable(Days, {
    description:
      "For how many days after their end executions are kept that are started from now on: state, result and log; null: as the operator sets for all services",
  }),
  logDays: Nullable(Days, {
    description: "The same for their logs, which are not kept for longer than the results",
  }),
};

/** A service: a Python function with an endpoint. */
const ServiceSchema = Type.Object(
  {
    key: Type.String({ description: "Stable UUID; first segment of the path of every endpoint URL" }),
    name: ServiceName,
    description: Type.String({ description: "Markdown text" }),
    publication: Nullable(Publication, {
      description: "null: no application can subscribe",
    }),
    logs: Logs,
    ...Kept,
    latestVersion: Nullable(VersionNumber, {
      description: "The highest live version; null if there is none",
    }),
    createdAt: Timestamp("When it was created"),
  },
  { title: "Service", description: "A Python function with an endpoint, in one or more versions" },
);

/** A service: a Python function with an endpoint. */
export type Service = Static<typeof ServiceSchema>;

/** Whether a version accepts executions. */
export const VersionState = StringEnum(["LIVE", "RETIRED"], {
  title: "VersionState",
  description: "LIVE: accepts executions. RETIRED: accepts no new executions",
});

/** One built version of a service. */
const VersionSchema = Type.Object(
  {
    version: VersionNumber,
    status: VersionState,
    resources: ResourcesSchema,
    timeoutSeconds: Type.Integer({ description: "Wall-clock limit of one execution in seconds" }),
    inputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of the input, derived from the type hints of `run`; null if there are none",
    }),
    createdAt: Timestamp("When it was created"),
    retiredAt: Nullable(Timestamp("When it was retired"), {
      description: "When it was retired; null while it is live",
    }),
  },
  { title: "Version", description: "One built version of a service" },
);

/** One built version of a service. */
export type Version = Static<typeof VersionSchema>;

const Former = {
  formerVersion: Nullable(VersionNumber, {
    description: "The version with the next lower number, live or retired; null: it is the lowest",
  }),
  breakingChange: Nullable(Type.String(), {
    description:
      "The first change that makes it refuse input which the former version accepts, as a clause, as far as the schemas say; null: there is none",
  }),
};

const ListedVersionSchema = Type.Object(
  { ...VersionSchema.properties, ...Former },
  { title: "ListedVersion", description: "A version, and whether it breaks callers of the one before it" },
);

/** A version, and whether it breaks callers of the one before it. */
export type ListedVersion = Static<typeof ListedVersionSchema>;

/** An input to try a service with. */
export const ExampleInput = Type.Object(
  {
    data: Type.Optional(JsonObject("`data` of a start")),
    params: Type.Optional(JsonObject("`params` of a start")),
  },
  { additionalProperties: false },
);

/** So many changes that break callers are listed of a version. */
export const MAX_BREAKING_CHANGES = 50;

const VersionDetailsSchema = Type.Object(
  {
    ...VersionSchema.properties,
    readme: Type.String({
      description: "Markdown of the project's `descriptionFile`; untrusted: show it sanitised",
    }),
    outputSchema: Nullable(JsonObject("JSON Schema"), {
      description: "JSON Schema of the result, derived from the type hint of `run`; null if there is none",
    }),
    exampleInput: Nullable(ExampleInput, {
      description:
        "The project's `input/data.json` and `input/params.json`; null: it has none that can be shown (the build's log says why), or a former release has built it",
    }),
    sizeBytes: Nullable(Type.Integer({ description: "Size of the archive in bytes" }), {
      description: "Size of the archive; null: not known",
    }),
    python: Nullable(Type.String(), { description: "Version of the interpreter; null: not known" }),
    requirements: Nullable(Type.Array(Type.String()), {
      description:
        "What was installed, a line each, as it was given to the installer, then constraints below `# constraints`; null: not known",
    }),
    createdBy: Nullable(Type.String(), {
      description: "Name of the user who deployed it; null: there is no such user",
    }),
    ...Former,
    isBreaking: Type.Boolean({
      description: "Whether it refuses input that the former version accepts, as far as the schemas say",
    }),
    breakingChanges: Type.Array(Type.String(), {
      maxItems: MAX_BREAKING_CHANGES,
      description: `All such changes, likewise; at most ${MAX_BREAKING_CHANGES}`,
    }),
  },
  { title: "VersionDetails", description: "All that is known of a version" },
);

/** All that is known of a version. */
export type VersionDetails = Static<typeof VersionDetailsSchema>;

/** Operations on services, versions and builds. */
export const SERVICES_API = {
  listServices: {
    ...READS,
    path: "/services",
    summary: "List the services of the organisation",
    description: "Newest first.",
    query: Type.Object({
      ...PageQuery.properties,
      name: Type.Optional(Type.String({ description: "Only the service of this name" })),
      q: Type.Optional(
        Type.String({
          maxLength: SEARCH_LIMITS.service,
          description: "Only services whose name contains this text",
        }),
      ),
      publication: Type.Optional(
        StringEnum(["internal", "marketplace", "none"], {
          description: "Only services that are published so; none: that no application can subscribe to",
        }),
      ),
    }),
    responses: { 200: { description: "One page", schema: pageOf("ServicePage", ServiceSchema) } },
  },
  createService: {
    ...WRITES,
    path: "/services",
    allows: "deploy",
    audit: "service.create",
    summary: "Create a service",
    description: "The new service has no versions. Names are unique in the organisation.",
    body: Type.Object(
      {
        name: ServiceName,
        description: Type.Optional(Description),
      },
      {
        additionalProperties: false,
        title: "CreateServiceRequest",
        description: "The service to create",
      },
    ),
    responses: { 201: { description: "Created", schema: ServiceSchema } },
    problems: ["CONFLICT", "QUOTA_EXCEEDED"],
  },
  getService: {
    ...READS,
    path: "/services/{key}",
    summary: "Get a service",
    description: "Only services of the organisation in use are found.",
    params: KeyParams,
    responses: { 200: { description: "Service", schema: ServiceSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  putService: {
    ...WRITES,
    method: "PUT",
    path: "/services/{key}",
    allows: "edit",
    audit: "service.update",
    summary: "Change a service",
    description:
      "What is absent stays. Its name and key never change. More days than the operator allows are refused with 429 QUOTA_EXCEEDED.",
    params: KeyParams,
    body: Type.Object(
      {
        description: Type.Optional(Description),
        logs: Type.Optional(Logs),
        resultDays: Type.Optional(Kept.resultDays),
        logDays: Type.Optional(Kept.logDays),
      },
      {
        additionalProperties: false,
        minProperties: 1,
        title: "PutServiceRequest",
        description: "What to change",
      },
    ),
    responses: { 200: { description: "Changed", schema: ServiceSchema } },
    problems: ["SERVICE_NOT_FOUND", "QUOTA_EXCEEDED"],
  },
  deleteService: {
    ...REMOVES,
    path: "/services/{key}",
    allows: "edit",
    audit: "service.delete",
    summary: "Delete a service that never had a version",
    description:
      "As the first build leaves it that fails, with its builds, plans, listing, secrets and variables. A service that has or had versions or subscriptions stays.",
    params: KeyParams,
    responses: { 204: { description: "Deleted" } },
    problems: ["SERVICE_NOT_FOUND", "CONFLICT"],
  },
  publishService: {
    ...WRITES,
    path: "/services/{key}/publish",
    allows: "edit",
    audit: "service.publish",
    summary: "Let applications subscribe to a service",
    description:
      "Existing subscriptions keep working, whatever the scope. A service in the marketplace without a plan gets the plan `free`.",
    params: KeyParams,
    body: Type.Object(
      { scope: Publication },
      {
        additionalProperties: false,
        title: "PublishServiceRequest",
        description: "Who may subscribe",
      },
    ),
    responses: { 200: { description: "Published", schema: ServiceSchema } },
    problems: ["SERVICE_NOT_FOUND", "CONFLICT"],
  },
  unpublishService: {
    ...WRITES,
    path: "/services/{key}/unpublish",
    allows: "edit",
    audit: "service.unpublish",
    bodyMode: "none",
    summary: "Take a service back: no application can subscribe to it",
    description: "Existing subscriptions say so (`isOffered`), and keep working until they are ended.",
    params: KeyParams,
    responses: { 200: { description: "Withdrawn", schema: ServiceSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  listVersions: {
    ...READS,
    path: "/services/{key}/versions",
    summary: "List the versions of a service",
    description:
      "Newest first; retired versions are listed as well. Each says whether its input breaks callers of the version before it.",
    params: KeyParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("VersionPage", ListedVersionSchema) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  getVersion: {
    ...READS,
    path: "/services/{key}/versions/{version}",
    summary: "Get a version of a service",
    description:
      "With its README, schemas, an example input, what it was built of, and whether its input breaks callers of the version before it.",
    params: VersionParams,
    responses: { 200: { description: "Version", schema: VersionDetailsSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  createVersion: {
    ...WRITES,
    path: "/services/{key}/versions",
    allows: "deploy",
    audit: "version.create",
    rate: "upload",
    bodyMode: "stream",
    summary: "Upload a project and build a version of it",
    description:
      "If a version with the same content exists, no new one is built: the response is 200 with that version.",
    params: KeyParams,
    query: Type.Object({
      bump: Type.Optional(
        StringEnum(["patch", "minor", "major"], {
          description: "Which number to increment, default patch; the first version is 1.0.0",
        }),
      ),
      version: Type.Optional(
        Type.String({
          pattern: "^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})$",
          description: "The number of the new version",
        }),
      ),
      force: Type.Optional(
        StringEnum(["true"], {
          description: "Accept an input schema that is incompatible with versions of the same major number",
        }),
      ),
    }),
    responses: {
      200: { description: "Nothing changed", schema: BuildSchema },
      201: {
        description: "The build is durable; its state is at the URL in Location",
        schema: BuildSchema,
        headers: { Location: "URL of the build" },
      },
    },
    problems: [
      "SERVICE_NOT_FOUND",
      "INVALID_PROJECT",
      "INVALID_ARCHIVE",
      "ARCHIVE_TOO_LARGE",
      "CONFLICT",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  downloadArchive: {
    ...READS,
    path: "/services/{key}/versions/{version}/archive",
    allows: "deploy",
    answerMode: "content",
    summary: "Download the archive of a version",
    description:
      "The project as it was uploaded, a ZIP file, also of a retired version. Only the organisation that has deployed the service gets it, no subscriber. As a whole or in ranges.",
    params: VersionParams,
    responses: { 200: { description: "The content" } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  retireVersion: {
    ...WRITES,
    path: "/services/{key}/versions/{version}/retire",
    allows: "deploy",
    audit: "version.retire",
    bodyMode: "none",
    summary: "Retire a version",
    description: "It accepts no new executions; running executions finish and results remain available.",
    params: VersionParams,
    responses: { 200: { description: "Retired", schema: VersionSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
} as const satisfies OperationTable;
