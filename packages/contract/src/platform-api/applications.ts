import { Type } from "typebox";
import type { Static } from "typebox";
import type { OperationTable } from "../operation.ts";
import { AUTHENTICATED, DisplayName, IdParams, PageQuerySchema, Timestamp, pageOf } from "./common.ts";

export const ApplicationSchema = Type.Object(
  { id: Type.String(), name: Type.String(), createdAt: Timestamp },
  { title: "Application" },
);

export type Application = Static<typeof ApplicationSchema>;

export const AccessKeySchema = Type.Object(
  {
    keyId: Type.String(),
    createdAt: Timestamp,
    revokedAt: Type.Union([Timestamp, Type.Null()]),
    lastUsedAt: Type.Union([Timestamp, Type.Null()], {
      description: "When it was last exchanged for an access token, to the minute",
    }),
  },
  { title: "AccessKey" },
);

export const SubscriptionSchema = Type.Object(
  {
    id: Type.String(),
    applicationId: Type.String(),
    serviceKey: Type.String(),
    serviceName: Type.String(),
    endpointUrl: Type.Union([Type.String(), Type.Null()], {
      description: "Endpoint of the latest version, ends with a slash; null before the first version is live",
    }),
    createdAt: Timestamp,
  },
  { title: "Subscription" },
);

export type Subscription = Static<typeof SubscriptionSchema>;

/** Applications, their access keys, and their subscriptions. */
export const APPLICATIONS_API = {
  listApplications: {
    method: "GET",
    path: "/applications",
    summary: "Applications of the organisation, newest first",
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf(ApplicationSchema) } },
    problems: AUTHENTICATED,
  },
  createApplication: {
    method: "POST",
    path: "/applications",
    summary: "Create an application",
    body: Type.Object({ name: DisplayName }, { additionalProperties: false }),
    responses: { 201: { description: "Created", schema: ApplicationSchema } },
    problems: [...AUTHENTICATED, "INVALID_INPUT"],
  },
  getApplication: {
    method: "GET",
    path: "/applications/{id}",
    summary: "One application",
    params: IdParams,
    responses: { 200: { description: "Application", schema: ApplicationSchema } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
  deleteApplication: {
    method: "DELETE",
    path: "/applications/{id}",
    summary: "Delete an application with its access keys and subscriptions",
    params: IdParams,
    responses: { 204: { description: "Deleted" } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
  listAccessKeys: {
    method: "GET",
    path: "/applications/{id}/access-keys",
    summary: "Access keys of an application, without their secrets",
    params: IdParams,
    query: PageQuerySchema,
    responses: { 200: { description: "One page", schema: pageOf(AccessKeySchema) } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
  createAccessKey: {
    method: "POST",
    path: "/applications/{id}/access-keys",
    summary: "Create an access key; its secret is shown once",
    params: IdParams,
    responses: {
      201: {
        description: "Created",
        schema: Type.Object({
          ...AccessKeySchema.properties,
          secret: Type.String({ description: "Shown once" }),
        }),
      },
    },
    problems: [...AUTHENTICATED, "NOT_FOUND", "CONFLICT"],
  },
  revokeAccessKey: {
    method: "DELETE",
    path: "/applications/{id}/access-keys/{keyId}",
    summary: "Revoke an access key; its tokens stop working within seconds",
    params: Type.Object({ id: Type.String(), keyId: Type.String() }),
    responses: { 204: { description: "Revoked" } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
  listSubscriptions: {
    method: "GET",
    path: "/subscriptions",
    summary: "Active subscriptions of the organisation's applications, newest first",
    query: Type.Object({ ...PageQuerySchema.properties, applicationId: Type.Optional(Type.String()) }),
    responses: { 200: { description: "One page", schema: pageOf(SubscriptionSchema) } },
    problems: AUTHENTICATED,
  },
  createSubscription: {
    method: "POST",
    path: "/subscriptions",
    summary: "Subscribe an application to a published service",
    body: Type.Object(
      { applicationId: Type.String(), serviceKey: Type.String() },
      { additionalProperties: false },
    ),
    responses: { 201: { description: "Created", schema: SubscriptionSchema } },
    problems: [...AUTHENTICATED, "INVALID_INPUT", "NOT_FOUND", "SERVICE_NOT_FOUND", "CONFLICT"],
  },
  getSubscription: {
    method: "GET",
    path: "/subscriptions/{id}",
    summary: "One subscription",
    params: IdParams,
    responses: { 200: { description: "Subscription", schema: SubscriptionSchema } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
  cancelSubscription: {
    method: "DELETE",
    path: "/subscriptions/{id}",
    summary: "End a subscription; the gateway refuses its calls within seconds",
    params: IdParams,
    responses: { 204: { description: "Ended" } },
    problems: [...AUTHENTICATED, "NOT_FOUND"],
  },
} as const satisfies OperationTable;
