import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ROLES, TOKEN_SCOPES } from "../permissions.ts";
import { MAX_PAGE_SIZE } from "../limits.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { DisplayName, NameQuery, idOf } from "./common.ts";

/** An organisation, as seen by one of its members. */
export const OrganizationSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the organisation" }),
    slug: Type.String({ description: "Unique short name, for URLs" }),
    name: Type.String({ description: "Display name" }),
    role: StringEnum(ROLES, {
      title: "Role",
      description: "Role of the user in the organisation",
    }),
    isPersonal: Type.Boolean({
      description: "Whether it is the user's own organisation, which is used if no X-OrganizationId is sent",
    }),
  },
  { title: "Organization", description: "An organisation of which the user is a member" },
);

/** An organisation, as seen by one of its members. */
export type Organization = Static<typeof OrganizationSchema>;

/** The calling user. */
export const MeSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the user" }),
    email: Type.String({ description: "Email address of the user" }),
    emailVerified: Type.Boolean({ description: "Whether the user has shown that the address is theirs" }),
    name: Type.String({ description: "Name of the user" }),
    operator: Type.Boolean({ description: "Whether the user runs this platform" }),
    organization: OrganizationSchema,
    organizations: Type.Array(OrganizationSchema, {
      description: `Organisations of the user, their own first; at most ${MAX_PAGE_SIZE}, \`listOrganizations\` has all`,
    }),
  },
  {
    title: "Me",
    description: "The calling user, the organisation in use, and all organisations of the user",
  },
);

/** A personal access token, without its value. */
const PersonalAccessTokenSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the token" }),
    name: Type.String({ description: "Display name" }),
    scopes: Type.Array(Type.String(), { description: "What the token may be used for" }),
    createdAt: Timestamp("When it was created"),
    expiresAt: Nullable(Timestamp("When it expires"), { description: "When it expires; null: never" }),
    lastUsedAt: Nullable(Timestamp("When it was last used"), {
      description: "When it was last used, to the minute; null: not yet",
    }),
  },
  { title: "PersonalAccessToken", description: "A personal access token, without its value" },
);

/** Every user may do this, and it concerns only what is the user's own. */
export const OWN = { allows: "caller", scope: "user" } as const;

/** Operations on the calling user: organisations and personal access tokens. */
export const ACCOUNT_API = {
  getMe: {
    ...READS,
    ...OWN,
    path: "/me",
    summary: "Get the calling user and the organisation in use",
    description: "The organisation is that of X-OrganizationId, or else the user's own.",
    responses: { 200: { description: "User and organisation", schema: MeSchema } },
  },
  putMe: {
    ...WRITES,
    ...OWN,
    method: "PUT",
    path: "/me",
    audit: "user.update",
    summary: "Change the calling user's name",
    description: "Other properties of the user are not changed.",
    body: Type.Object(
      { name: DisplayName },
      { additionalProperties: false, title: "PutMeRequest", description: "The user's name" },
    ),
    responses: { 200: { description: "Changed", schema: MeSchema } },
  },
  listOrganizations: {
    ...READS,
    ...OWN,
    path: "/organizations",
    summary: "List the organisations of which the user is a member",
    description: "By name, the user's own organisation first.",
    query: NameQuery,
    responses: { 200: { description: "One page", schema: pageOf("OrganizationPage", OrganizationSchema) } },
  },
  listPersonalAccessTokens: {
    ...READS,
    ...OWN,
    path: "/personal-access-tokens",
    summary: "List the user's personal access tokens, without their values",
    description: "The tokens are the user's own, whatever the organisation in use.",
    query: PageQuery,
    responses: {
      200: { description: "One page", schema: pageOf("PersonalAccessTokenPage", PersonalAccessTokenSchema) },
    },
  },
  createPersonalAccessToken: {
    ...WRITES,
    ...OWN,
    path: "/personal-access-tokens",
    audit: "personal-access-token.create",
    summary: "Create a personal access token; its value is shown once",
    description:
      "It opens no more than the token of this request, and expires with that token at the latest. A session may create any. Without scopes it only reads.",
    body: Type.Object(
      {
        name: DisplayName,
        scopes: Type.Optional(
          Type.Array(StringEnum(TOKEN_SCOPES), {
            minItems: 1,
            maxItems: TOKEN_SCOPES.length,
            description:
              "What it may be used for, default read. read: reading. run: also starting jobs. deploy: also services, versions, applications, subscriptions. admin: all that its user may. quantum: the quantum API only",
          }),
        ),
        expiresInDays: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 3650, description: "Days until it expires; default 365" }),
        ),
      },
      {
        additionalProperties: false,
        title: "CreatePersonalAccessTokenRequest",
        description: "The token to create",
      },
    ),
    responses: {
      201: {
        description: "Created",
        schema: Type.Object(
          {
            ...PersonalAccessTokenSchema.properties,
            token: Type.String({ description: "Value of the token, shown once" }),
          },
          { title: "CreatedPersonalAccessToken", description: "A new personal access token with its value" },
        ),
      },
    },
    problems: ["QUOTA_EXCEEDED"],
  },
  revokePersonalAccessToken: {
    ...REMOVES,
    ...OWN,
    path: "/personal-access-tokens/{id}",
    audit: "personal-access-token.revoke",
    summary: "Revoke a personal access token",
    description: "Requests with it are refused from then on, and with the tokens that were made with it.",
    params: idOf("token"),
    responses: { 204: { description: "Revoked" } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
