import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { SEARCH_LIMITS } from "../search-limits.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";

const OPERATES = { allows: "operator", scope: "platform" } as const;

/** Minutes for which a link to set a password works. */
const LINK_MINUTES = { minimum: 5, maximum: 3 * 24 * 60, default: 60 };

/** Which users are listed. */
export const USER_STATES = ["enabled", "disabled", "operator"] as const;

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Search = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_LIMITS.operator, description }));

const UserSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the user" }),
    email: Type.String({ description: "Email address" }),
    emailVerified: Type.Boolean({ description: "Whether the user has shown that the address is theirs" }),
    name: Type.String({ description: "Name of the user" }),
    operator: Type.Boolean({ description: "Whether the user runs this platform" }),
    hasPassword: Type.Boolean({ description: "Whether the user can sign in with a password" }),
    organizations: Count("Organisations of which the user is a member"),
    createdAt: Timestamp("When the account was created"),
    lastSeenAt: Nullable(Timestamp("When it was last used"), {
      description: "When the user was last seen in any organisation, to the minute; null: never",
    }),
    disabledAt: Nullable(Timestamp("Since when it is disabled"), {
      description: "Since when the user is disabled; null: is not",
    }),
  },
  { title: "User", description: "A user of the platform, as its operators see them" },
);
/** A user of the platform, as its operators see them. */
export type User = Static<typeof UserSchema>;

const InstanceOrganizationSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the organisation" }),
    slug: Type.String({ description: "Unique short name, for URLs" }),
    name: Type.String({ description: "Display name" }),
    isPersonal: Type.Boolean({ description: "Whether it is a user's own organisation" }),
    createdAt: Timestamp("When it was created"),
    members: Count("Its members"),
    services: Count("Its services"),
    applications: Count("Its applications"),
    poolBytes: Count("Bytes in its data pools"),
  },
  {
    title: "InstanceOrganization",
    description: "An organisation of the platform, as operators see it: numbers, and nothing of what it has",
  },
);
/** An organisation of the platform, as operators see it. */
export type InstanceOrganization = Static<typeof InstanceOrganizationSchema>;

const UserParams = Type.Object({ userId: Type.String({ description: "Identifier of the user" }) });

/** Operations of operators on users and organisations of the platform. */
export const OPERATOR_ACCOUNTS_API = {
  listUsers: {
    ...READS,
    ...OPERATES,
    path: "/operator/users",
    summary: "List the users of the platform",
    description: "Newest first.",
    query: Type.Object({
      ...PageQuery.properties,
      q: Search("Only users whose email address or name has this text, whatever its case, or whose id it is"),
      state: Type.Optional(StringEnum(USER_STATES, { description: "Only users of this kind" })),
    }),
    responses: { 200: { description: "One page", schema: pageOf("UserPage", UserSchema) } },
  },
  putUser: {
    ...WRITES,
    ...OPERATES,
    method: "PUT",
    path: "/operator/users/{userId}",
    audit: "user.administer",
    summary: "Disable a user, or enable one again",
    description:
      "Sessions, personal access tokens and open links of a user who is disabled end for good, within seconds in all processes; nothing of organisations ends: access keys of applications, schedules, and what runs. Operators cannot disable themselves. The entry of the audit log stands in that of the operator's own organisation and in that of the user's own.",
    params: UserParams,
    body: Type.Object(
      { disabled: Type.Boolean({ description: "Whether the user is disabled from now on" }) },
      { additionalProperties: false, title: "PutUserRequest", description: "What is to be changed" },
    ),
    responses: { 200: { description: "Changed", schema: UserSchema } },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  createResetLink: {
    ...WRITES,
    ...OPERATES,
    bodyMode: "optional",
    path: "/operator/users/{userId}/reset-link",
    audit: "reset-link.issue",
    summary: "Make a link with which a user sets a new password",
    description:
      "For platforms without a mail server: the link is shown once, works once, and ends former ones. It says nothing about whose the address is. When it is used, all sessions of the user end. A user who is disabled is to be enabled first.",
    params: UserParams,
    body: Type.Object(
      {
        expiresInMinutes: Type.Optional(
          Type.Integer({ ...LINK_MINUTES, description: "Minutes for which it works; default 60" }),
        ),
      },
      {
        additionalProperties: false,
        title: "CreateResetLinkRequest",
        description: "How long the link works",
      },
    ),
    responses: {
      201: {
        description: "Made",
        schema: Type.Object(
          {
            userId: Type.String({ description: "Identifier of the user" }),
            email: Type.String({ description: "Email address of the user" }),
            url: Type.String({ description: "The link, shown once: whoever has it sets the password" }),
            expiresAt: Timestamp("Until when it works"),
          },
          { title: "ResetLink", description: "A link with which a user sets a new password" },
        ),
      },
    },
    problems: ["NOT_FOUND", "CONFLICT"],
  },
  listAllOrganizations: {
    ...READS,
    ...OPERATES,
    path: "/operator/organizations",
    summary: "List all organisations of the platform",
    description:
      "Newest first: names and numbers. Operators are no members by that, and see nothing of what organisations have.",
    query: Type.Object({
      ...PageQuery.properties,
      q: Search("Only organisations whose name or slug has this text, whatever its case"),
    }),
    responses: {
      200: {
        description: "One page",
        schema: pageOf("InstanceOrganizationPage", InstanceOrganizationSchema),
      },
    },
  },
} as const satisfies OperationTable;
