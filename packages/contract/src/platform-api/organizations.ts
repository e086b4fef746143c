import { Type } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ROLES } from "../permissions.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { OWN, OrganizationSchema } from "./account.ts";
import { DisplayName, idOf } from "./common.ts";

/** Only these characters: letters of other scripts look like them, and a slug stands in URLs. */
const Slug = Type.String({
  minLength: 2,
  maxLength: 60,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  description: "Unique short name, for URLs: lower-case letters, digits and single hyphens",
});

/** Names what the organisation shall be called. */
const OrganizationWish = Type.Object(
  {
    name: DisplayName,
    slug: Type.Optional(Slug),
  },
  { additionalProperties: false },
);

const MemberSchema = Type.Object(
  {
    userId: Type.String({ description: "Identifier of the user" }),
    name: Type.String({ description: "Name of the user" }),
    email: Type.String({ description: "Email address of the user" }),
    role: StringEnum(ROLES, { description: "Role of the user in the organisation" }),
    joinedAt: Timestamp("When the user became a member"),
    lastSeenAt: Nullable(Timestamp("When the user last called the platform API in this organisation"), {
      description:
        "When the user last called the platform API in this organisation, to the minute; null: never",
    }),
  },
  { title: "Member", description: "A user in an organisation" },
);

const MemberParams = Type.Object({ userId: Type.String({ description: "Identifier of the user" }) });

const OfRequest = "The id must be that of the organisation of the request (X-OrganizationId).";

/** Operations on organisations and their members. */
export const ORGANIZATIONS_API = {
  createOrganization: {
    ...WRITES,
    ...OWN,
    path: "/organizations",
    audit: "organization.create",
    summary: "Create an organisation",
    description: "The calling user becomes its owner. Without a slug one is made of the name.",
    body: Type.Object(OrganizationWish.properties, {
      additionalProperties: false,
      title: "CreateOrganizationRequest",
      description: "The organisation to create",
    }),
    responses: {
      201: {
        description: "Created",
        schema: OrganizationSchema,
        headers: { Location: "Path of the organisation" },
      },
    },
    problems: ["CONFLICT", "QUOTA_EXCEEDED"],
  },
  getOrganization: {
    ...READS,
    path: "/organizations/{id}",
    summary: "Get an organisation",
    description: OfRequest,
    params: idOf("organisation"),
    responses: { 200: { description: "The organisation", schema: OrganizationSchema } },
    problems: ["NOT_FOUND"],
  },
  putOrganization: {
    ...WRITES,
    method: "PUT",
    path: "/organizations/{id}",
    allows: "administer",
    audit: "organization.update",
    summary: "Change name and slug of an organisation",
    description: `What is left out stays as it is. ${OfRequest}`,
    params: idOf("organisation"),
    body: Type.Partial(OrganizationWish, {
      additionalProperties: false,
      title: "PutOrganizationRequest",
      description: "Name and slug",
    }),
    responses: { 200: { description: "Changed", schema: OrganizationSchema } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  deleteOrganization: {
    ...REMOVES,
    path: "/organizations/{id}",
    allows: "administer",
    audit: "organization.delete",
    summary: "Delete an organisation with its applications and services",
    description: `Access keys, subscriptions and invitations end, versions are retired. Refused while builds or executions of it are unfinished, and while applications of other organisations subscribe to its services. A user's own organisation cannot be deleted. ${OfRequest}`,
    params: idOf("organisation"),
    responses: { 204: { description: "Deleted" } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  listMembers: {
    ...READS,
    path: "/members",
    summary: "List the members of the organisation",
    description: "Those who joined first come first.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("MemberPage", MemberSchema) } },
  },
  putMember: {
    ...WRITES,
    method: "PUT",
    path: "/members/{userId}",
    allows: "administer",
    audit: "member.update",
    summary: "Change the role of a member",
    description: "The last owner stays owner, and so does the user whose own organisation it is.",
    params: MemberParams,
    body: Type.Object(
      { role: StringEnum(ROLES, { description: "The new role" }) },
      { additionalProperties: false, title: "PutMemberRequest", description: "The new role" },
    ),
    responses: { 200: { description: "Changed", schema: MemberSchema } },
    problems: ["NOT_FOUND", "LAST_OWNER", "CONFLICT"],
  },
  removeMember: {
    ...REMOVES,
    path: "/members/{userId}",
    allows: "administer",
    audit: "member.remove",
    summary: "Remove a member",
    description:
      "What the member made in the organisation stays. The last owner cannot be removed, nor the user whose own organisation it is.",
    params: MemberParams,
    responses: { 204: { description: "Removed" } },
    problems: ["NOT_FOUND", "LAST_OWNER", "CONFLICT"],
  },
  leaveOrganization: {
    ...REMOVES,
    ...OWN,
    path: "/members/me",
    audit: "member.leave",
    summary: "Leave the organisation",
    description: "The last owner cannot leave, nor the user whose own organisation it is.",
    responses: { 204: { description: "Left" } },
    problems: ["NOT_FOUND", "LAST_OWNER", "CONFLICT"],
  },
} as const satisfies OperationTable;
