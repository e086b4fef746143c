import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { idOf } from "./common.ts";

const OrganizationId = Type.String({ description: "Identifier of the organisation" });
const ApplicationId = Type.String({ description: "Identifier of the application" });

const ShareRole = StringEnum(["viewer", "maintainer"], {
  description:
    "viewer: its members read the files and its jobs may refer to them; maintainer: they store, rename and delete files as well. Each as their own role allows",
});

const GrantAccess = StringEnum(["read", "write"], {
  description: "read: its starts may refer to the files; write: they may also store results in the pool",
});

const PoolShareSchema = Type.Object(
  {
    organizationId: OrganizationId,
    organizationName: Type.String({ description: "Name of the organisation" }),
    role: ShareRole,
    createdAt: Timestamp("Since when"),
    createdBy: Type.String({ description: "Name of the user who shared it" }),
  },
  { title: "PoolShare", description: "Another organisation that may use a data pool" },
);

/** Another organisation that may use a data pool. */
export type PoolShare = Static<typeof PoolShareSchema>;

const PoolGrantSchema = Type.Object(
  {
    applicationId: ApplicationId,
    applicationName: Type.String({ description: "Name of the application" }),
    organizationId: OrganizationId,
    organizationName: Type.String({ description: "Name of its organisation" }),
    access: GrantAccess,
    createdAt: Timestamp("Since when"),
    createdBy: Type.String({ description: "Name of the user who granted it" }),
  },
  { title: "PoolGrant", description: "An application that may use a data pool" },
);

/** An application that may use a data pool. */
export type PoolGrant = Static<typeof PoolGrantSchema>;

const Pool = idOf("data pool");
const ShareParams = Type.Object({ ...Pool.properties, organizationId: OrganizationId });
const GrantParams = Type.Object({ ...Pool.properties, applicationId: ApplicationId });

/** Which other organisations and which applications may use a data pool. */
export const POOL_ACCESS_API = {
  listPoolShares: {
    ...READS,
    path: "/data-pools/{id}/shares",
    summary: "List the organisations that a data pool is shared with",
    description: "By identifier. An organisation that the pool is shared with sees its own entry only.",
    params: Pool,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("PoolSharePage", PoolShareSchema) } },
    problems: ["NOT_FOUND"],
  },
  putPoolShare: {
    ...WRITES,
    method: "PUT",
    path: "/data-pools/{id}/shares/{organizationId}",
    allows: "administer",
    audit: "pool-share.put",
    summary: "Share a data pool with another organisation",
    description:
      "Or change what it may do. What it stores counts for the organisation of the pool. As a viewer, its applications can read at most.",
    params: ShareParams,
    body: Type.Object(
      { role: ShareRole },
      { additionalProperties: false, title: "PutPoolShareRequest", description: "What it may do" },
    ),
    responses: { 200: { description: "Shared", schema: PoolShareSchema } },
    problems: ["NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  deletePoolShare: {
    ...REMOVES,
    path: "/data-pools/{id}/shares/{organizationId}",
    allows: "administer",
    audit: "pool-share.delete",
    summary: "Share a data pool with an organisation no longer",
    description:
      "With what its applications were granted. Executions that were started before read what they refer to. An organisation that the pool is shared with ends that by its own identifier.",
    params: ShareParams,
    responses: { 204: { description: "Not shared any more" } },
    problems: ["NOT_FOUND"],
  },
  listPoolGrants: {
    ...READS,
    path: "/data-pools/{id}/grants",
    summary: "List the applications that may use a data pool",
    description:
      "By identifier. An organisation that the pool is shared with sees its own applications only.",
    params: Pool,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("PoolGrantPage", PoolGrantSchema) } },
    problems: ["NOT_FOUND"],
  },
  putPoolGrant: {
    ...WRITES,
    method: "PUT",
    path: "/data-pools/{id}/grants/{applicationId}",
    allows: "edit",
    audit: "pool-grant.put",
    summary: "Let an application use a data pool",
    description:
      "Or change what it may do. An application of another organisation needs a share of that organisation, for `write` one as maintainer.",
    params: GrantParams,
    body: Type.Object(
      { access: GrantAccess },
      { additionalProperties: false, title: "PutPoolGrantRequest", description: "What it may do" },
    ),
    responses: { 200: { description: "Granted", schema: PoolGrantSchema } },
    problems: ["NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  deletePoolGrant: {
    ...REMOVES,
    path: "/data-pools/{id}/grants/{applicationId}",
    allows: "edit",
    audit: "pool-grant.delete",
    summary: "Let an application use a data pool no longer",
    description: "Executions that it has started before read what they refer to.",
    params: GrantParams,
    responses: { 204: { description: "Withdrawn" } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
