import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { BACKEND_ID_PATTERN } from "../project.ts";
import { Nullable, Timestamp, pageOf } from "../schemas.ts";
import { PageQuery } from "../service-api.ts";

const OPERATES = { allows: "operator", scope: "platform" } as const;

const BackendId = (description: string) => Type.String({ pattern: BACKEND_ID_PATTERN, description });

const PlatformBackendSchema = Type.Object(
  {
    id: BackendId("What jobs of all organisations name it by"),
    aliasOf: Nullable(Type.String(), { description: "The backend that it is another name of; null: none" }),
    service: Type.Object(
      {
        key: Type.String({ description: "Key of the service" }),
        name: Type.String({ description: "Name of the service" }),
        organizationId: Type.String({ description: "Organisation whose service it is" }),
        organization: Type.String({ description: "Name of the organisation" }),
      },
      { title: "PlatformBackendService", description: "The service that runs its jobs" },
    ),
    version: Nullable(Type.String(), {
      description: "Version that runs new jobs; null: none is live, so no organisation sees the backend",
    }),
    sharedAt: Timestamp("Since when it is there"),
  },
  { title: "PlatformBackend", description: "A backend that all organisations may use" },
);
/** A backend that all organisations may use, as operators see it. */
export type PlatformBackend = Static<typeof PlatformBackendSchema>;

const BackendParams = Type.Object({ backendId: BackendId("Id of the backend, such as sim.statevector") });

/** Operations of operators on backends of the whole platform. */
export const OPERATOR_BACKENDS_API = {
  listPlatformBackends: {
    ...READS,
    ...OPERATES,
    path: "/operator/backends",
    summary: "List the backends that all organisations may use",
    description: "By id, with their aliases.",
    query: PageQuery,
    responses: {
      200: { description: "One page", schema: pageOf("PlatformBackendPage", PlatformBackendSchema) },
    },
  },
  putPlatformBackend: {
    ...WRITES,
    ...OPERATES,
    method: "PUT",
    path: "/operator/backends/{backendId}",
    audit: "backend.share",
    summary: "Let all organisations use a backend, or give one another name",
    description:
      "With `serviceKey`: the latest live version of this service runs jobs of every organisation that names the id. Such a job is the caller's: the organisation of the service sees neither it nor its circuits, results and logs. An organisation's own backend of the same id goes first for its jobs. With `aliasOf`: the id is another name of a simulator that is shared, which its display name says. CONFLICT: the id is taken by something else.",
    params: BackendParams,
    body: Type.Object(
      {
        serviceKey: Type.Optional(
          Type.String({ maxLength: 64, description: "Key of a service that is a backend" }),
        ),
        aliasOf: Type.Optional(BackendId("Id of a simulator that is shared")),
      },
      {
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        title: "PutPlatformBackendRequest",
        description: "One of the two",
      },
    ),
    responses: { 200: { description: "It is there", schema: PlatformBackendSchema } },
    problems: ["SERVICE_NOT_FOUND", "BACKEND_NOT_FOUND", "CONFLICT"],
  },
  deletePlatformBackend: {
    ...WRITES,
    ...OPERATES,
    method: "DELETE",
    bodyMode: "none",
    answerMode: "none",
    path: "/operator/backends/{backendId}",
    audit: "backend.unshare",
    summary: "Take a backend back from other organisations",
    description:
      "With its aliases; or an alias alone. Its service stays the backend of its own organisation. Jobs that were started run to their end.",
    params: BackendParams,
    responses: { 204: { description: "It is no more" } },
    problems: ["BACKEND_NOT_FOUND"],
  },
} as const satisfies OperationTable;
