import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, Timestamp, pageOf } from "../schemas.ts";
import { DisplayName, NameQuery, idOf } from "./common.ts";

/** A caller of services. */
const ApplicationSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the application" }),
    name: Type.String({ description: "Display name" }),
    createdAt: Timestamp("When it was created"),
  },
  { title: "Application", description: "A caller of services, with access keys and subscriptions" },
);

/** A caller of services. */
export type Application = Static<typeof ApplicationSchema>;

/** An access key of an application, without its secret. */
const AccessKeySchema = Type.Object(
  {
    keyId: Type.String({ description: "Identifier of the key, the client id at the token endpoint" }),
    name: Type.String({ description: "Display name; empty: it has none" }),
    createdAt: Timestamp("When it was created"),
    expiresAt: Nullable(Timestamp("When it expires"), { description: "When it expires; null: never" }),
    replacedBy: Nullable(Type.String(), { description: "The key that it was rotated to; null: it was not" }),
    revokedAt: Nullable(Timestamp("When it was revoked"), {
      description: "When it was revoked; null while it is active",
    }),
    lastUsedAt: Nullable(Timestamp("When it was last used"), {
      description: "When it was last exchanged for an access token, to the minute; null: not yet",
    }),
  },
  { title: "AccessKey", description: "An access key, without its secret" },
);

const CreatedAccessKeySchema = Type.Object(
  { ...AccessKeySchema.properties, secret: Type.String({ description: "Secret of the key, shown once" }) },
  { title: "CreatedAccessKey", description: "A new access key with its secret" },
);

const KeyParams = Type.Object({
  id: Type.String({ description: "Identifier of the application" }),
  keyId: Type.String({ description: "Identifier of the key" }),
});

/** Applications and their access keys. */
export const APPLICATIONS_API = {
  listApplications: {
    ...READS,
    path: "/applications",
    summary: "List the applications of the organisation",
    description: "Newest first.",
    query: NameQuery,
    responses: { 200: { description: "One page", schema: pageOf("ApplicationPage", ApplicationSchema) } },
  },
  createApplication: {
    ...WRITES,
    path: "/applications",
    allows: "edit",
    audit: "application.create",
    summary: "Create an application",
    description: "It has no access key and no subscription yet.",
    body: Type.Object(
      { name: DisplayName },
      {
        additionalProperties: false,
        title: "CreateApplicationRequest",
        description: "The application to create",
      },
    ),
    responses: { 201: { description: "Created", schema: ApplicationSchema } },
    problems: ["QUOTA_EXCEEDED"],
  },
  getApplication: {
    ...READS,
    path: "/applications/{id}",
    summary: "Get an application",
    description: "Only applications of the organisation in use are found.",
    params: idOf("application"),
    responses: { 200: { description: "Application", schema: ApplicationSchema } },
    problems: ["NOT_FOUND"],
  },
  putApplication: {
    ...WRITES,
    method: "PUT",
    path: "/applications/{id}",
    allows: "edit",
    audit: "application.update",
    summary: "Rename an application",
    description: "Keys and subscriptions stay as they are.",
    params: idOf("application"),
    body: Type.Object(
      { name: DisplayName },
      { additionalProperties: false, title: "PutApplicationRequest", description: "The new name" },
    ),
    responses: { 200: { description: "Changed", schema: ApplicationSchema } },
    problems: ["NOT_FOUND"],
  },
  deleteApplication: {
    ...REMOVES,
    path: "/applications/{id}",
    allows: "administer",
    audit: "application.delete",
    summary: "Delete an application",
    description: "Its access keys are revoked and its subscriptions removed, whose executions are cancelled.",
    params: idOf("application"),
    responses: { 204: { description: "Deleted" } },
    problems: ["NOT_FOUND"],
  },
  listAccessKeys: {
    ...READS,
    path: "/applications/{id}/access-keys",
    summary: "List the access keys of an application",
    description: "Without their secrets; revoked keys are listed as well.",
    params: idOf("application"),
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("AccessKeyPage", AccessKeySchema) } },
    problems: ["NOT_FOUND"],
  },
  createAccessKey: {
    ...WRITES,
    path: "/applications/{id}/access-keys",
    allows: "edit",
    audit: "access-key.create",
    bodyMode: "optional",
    summary: "Create an access key; its secret is shown once",
    description:
      "Key id and secret are exchanged for access tokens at the gateway's token endpoint. The body may be missing.",
    params: idOf("application"),
    body: Type.Object(
      {
        name: Type.Optional(DisplayName),
        expiresInDays: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 3650, description: "Days until it expires; default: never" }),
        ),
      },
      {
        additionalProperties: false,
        title: "CreateAccessKeyRequest",
        description: "The access key to create",
      },
    ),
    responses: { 201: { description: "Created", schema: CreatedAccessKeySchema } },
    problems: ["NOT_FOUND", "QUOTA_EXCEEDED"],
  },
  rotateAccessKey: {
    ...WRITES,
    path: "/applications/{id}/access-keys/{keyId}/rotate",
    allows: "edit",
    audit: "access-key.rotate",
    bodyMode: "optional",
    summary: "Replace an access key by a new one, whose secret is shown once",
    description:
      "The new key has the name and the life of the former one, which goes on for a while, so that callers can change over. A key is rotated once: of two requests at the same time one is refused.",
    params: KeyParams,
    body: Type.Object(
      {
        oldEndsInHours: Type.Optional(
          Type.Unsafe<0 | 1 | 24 | 168>({
            type: "integer",
            enum: [0, 1, 24, 168],
            description: "For how many hours the former key goes on; default 24",
          }),
        ),
      },
      {
        additionalProperties: false,
        title: "RotateAccessKeyRequest",
        description: "When the former key ends",
      },
    ),
    responses: { 201: { description: "Created", schema: CreatedAccessKeySchema } },
    problems: ["NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  revokeAccessKey: {
    ...REMOVES,
    path: "/applications/{id}/access-keys/{keyId}",
    allows: "edit",
    audit: "access-key.revoke",
    summary: "Revoke an access key",
    description: "Access tokens that were obtained with it stop working within seconds.",
    params: KeyParams,
    responses: { 204: { description: "Revoked" } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
