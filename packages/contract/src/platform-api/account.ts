import { Type } from "typebox";
import type { Static } from "typebox";
import type { OperationTable } from "../operation.ts";
import { AUTHENTICATED, DisplayName, IdParams, PageQuerySchema, Timestamp, pageOf } from "./common.ts";

export const OrganizationSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    role: Type.Union([Type.Literal("owner"), Type.Literal("maintainer"), Type.Literal("viewer")]),
    isPersonal: Type.Boolean({
      description: "The user's own organisation, used where no X-OrganizationId is sent",
    }),
  },
  { title: "Organization" },
);

export type Organization = Static<typeof OrganizationSchema>;

const MeSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    organization: OrganizationSchema,
  },
  { title: "Me" },
);

export const PersonalAccessTokenSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    scopes: Type.Array(Type.String()),
    createdAt: Timestamp,
    expiresAt: Type.Union([Timestamp, Type.Null()]),
    lastUsedAt: Type.Union([Timestamp, Type.Null()]),
  },
  { title: "PersonalAccessToken" },
);

/** Who am I, and with which organisations and tokens. */
export const ACCOUNT_API = {
  getMe: {
    method: "GET",
    path: "/me",
    summary: "The user of this token and the organisation in use",
    responses: { 200: { description: "User and organisation", schema: MeSchema } },
    problems: AUTHENTICATED,
  },
  listOrganizations: {
    method: "GET",
    path: "/organizations",
    summary: "Organisations of which the user is a member",
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf(OrganizationSchema) } },
    problems: AUTHENTICATED,
  },
  listPersonalAccessTokens: {
    method: "GET",
    path: "/personal-access-tokens",
    summary: "The user's personal access tokens, without their secrets",
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf(PersonalAccessTokenSchema) } },
    problems: AUTHENTICATED,
  },
  createPersonalAccessToken: {
    method: "POST",
    path: "/personal-access-tokens",
    summary: "Create a personal access token; its value is shown once",
    description: "It has no scope that the token of this request lacks, and ends with it at the latest.",
    body: Type.Object(
      {
        name: DisplayName,
        scopes: Type.Optional(
          Type.Array(Type.Union([Type.Literal("api"), Type.Literal("quantum")]), {
            minItems: 1,
            description: "Default: api",
          }),
        ),
        expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650, description: "Default 365" })),
      },
      { additionalProperties: false },
    ),
    responses: {
      201: {
        description: "Created",
        schema: Type.Object({
          ...PersonalAccessTokenSchema.properties,
          token: Type.String({ description: "Shown once" }),
        }),
      },
    },
    problems: [...AUTHENTICATED, "INVALID_INPUT"],
  },
  revokePersonalAccessToken: {
    method: "DELETE",
    path: "/personal-access-tokens/{id}",
    summary: "Revoke a personal access token",
    params: IdParams,
    responses: { 204: { description: "Revoked" } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
} as const satisfies OperationTable;
