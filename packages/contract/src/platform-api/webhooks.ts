import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";

/** What a webhook is told of an execution, by the status that it has then. */
export const WEBHOOK_EVENTS = [
  "execution.pending",
  "execution.running",
  "execution.succeeded",
  "execution.failed",
  "execution.unknown",
] as const;

/** An event of an execution. */
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The states of a delivery; the last two are final. */
const DELIVERY_STATUSES = ["PENDING", "DELIVERED", "FAILED"] as const;

const Url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: "Where messages are posted to: a URL of https or http without credentials",
  examples: ["https://example.org/hook"],
});

const Events = Type.Array(
  StringEnum(WEBHOOK_EVENTS, { title: "WebhookEvent", description: "An event of an execution" }),
  {
    minItems: 1,
    uniqueItems: true,
    maxItems: WEBHOOK_EVENTS.length,
    description: "Of which events it is told",
  },
);

const WebhookSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the webhook" }),
    url: Nullable(Url, {
      description: "Where messages are posted to; null: to the URLs that starts name as webhookUrl",
    }),
    events: Events,
    isPaused: Type.Boolean({
      description:
        "Whether nothing is sent; what happens meanwhile is not sent later. Also set when the receiver answers 410",
    }),
    createdAt: Timestamp("When it was created"),
    formerSecretUntil: Nullable(Timestamp("Until when messages are signed with the former secret as well"), {
      description: "Until when messages are signed with the former secret as well; null: there is none",
    }),
    waiting: Type.Integer({ minimum: 0, description: "Messages that are not delivered yet" }),
  },
  { title: "Webhook", description: "A URL of an application that is told what becomes of its executions" },
);

/** A URL of an application that is told what becomes of its executions. */
export type Webhook = Static<typeof WebhookSchema>;

const Secret = Type.String({
  description: "Key of the signatures, by Standard Webhooks: whsec_ and base64; shown once",
});

const CreatedWebhookSchema = Type.Object(
  { ...WebhookSchema.properties, secret: Secret },
  { title: "CreatedWebhook", description: "A new webhook with its secret" },
);

const AttemptSchema = Type.Object(
  {
    at: Timestamp("When it was sent"),
    status: Nullable(Type.Integer(), { description: "HTTP status of the answer; null: there was none" }),
    failure: Nullable(Type.String(), { description: "Why there was no answer; null: there was one" }),
    durationMs: Type.Integer({ minimum: 0, description: "How long it took, in milliseconds" }),
  },
  { title: "WebhookAttempt", description: "One try to deliver a message" },
);

const DeliverySchema = Type.Object(
  {
    id: Type.String({
      description: "Identifier of the message, as webhook-id has it: the same for each try",
    }),
    event: Type.String({ description: "The event; test: sent on request" }),
    executionId: Nullable(Type.String(), { description: "The execution; null: a test" }),
    origin: Nullable(Type.String(), {
      description: "Scheme, host and port of the URL that the start has named; null: that of the webhook",
    }),
    status: StringEnum(DELIVERY_STATUSES, {
      title: "WebhookDeliveryStatus",
      description: "PENDING: it is tried again. DELIVERED: answered with 2xx. FAILED: given up after a day",
    }),
    tries: Type.Integer({ minimum: 0, description: "How many times it was sent" }),
    nextAt: Nullable(Timestamp("When it is tried next"), {
      description: "When it is tried next; null: no more",
    }),
    createdAt: Timestamp("When it was created"),
    attempts: Type.Array(AttemptSchema, { description: "The last tries, oldest first" }),
  },
  { title: "WebhookDelivery", description: "A message to a webhook, and what became of it" },
);

/** A message to a webhook, and what became of it. */
export type WebhookDelivery = Static<typeof DeliverySchema>;

const ApplicationId = Type.String({
  description: "Identifier of the application; jobs: the jobs of the organisation",
});
const OfApplication = Type.Object({ id: ApplicationId });

const WebhookParams = Type.Object({
  id: ApplicationId,
  webhookId: Type.String({ description: "Identifier of the webhook" }),
});

const DeliveryParams = Type.Object({
  ...WebhookParams.properties,
  deliveryId: Type.String({ description: "Identifier of the message" }),
});

const OF_ONE = { params: WebhookParams, problems: ["NOT_FOUND"] } as const;
const ONE = "/applications/{id}/webhooks/{webhookId}";

/** Webhooks of applications, and what was sent to them. */
export const WEBHOOKS_API = {
  listWebhooks: {
    ...READS,
    path: "/applications/{id}/webhooks",
    summary: "List the webhooks of an application",
    description: "Without their secrets.",
    params: OfApplication,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("WebhookPage", WebhookSchema) } },
    problems: ["NOT_FOUND"],
  },
  createWebhook: {
    ...WRITES,
    path: "/applications/{id}/webhooks",
    allows: "edit",
    audit: "webhook.create",
    summary: "Create a webhook; its secret is shown once",
    description:
      "From now on the URL is told each of these events of executions that the application's subscriptions start, at least once, signed by Standard Webhooks. Without a URL it is the one that signs messages to the URLs that starts name, of which there is one: their first one makes it as well.",
    params: OfApplication,
    body: Type.Object(
      { url: Type.Optional(Url), events: Type.Optional(Events) },
      {
        additionalProperties: false,
        title: "CreateWebhookRequest",
        description: "The webhook to create; default: told of the three final states",
      },
    ),
    responses: { 201: { description: "Created", schema: CreatedWebhookSchema } },
    problems: ["NOT_FOUND", "QUOTA_EXCEEDED", "CONFLICT"],
  },
  getWebhook: {
    ...READS,
    ...OF_ONE,
    path: ONE,
    summary: "Get a webhook",
    description: "Without its secret.",
    responses: { 200: { description: "Webhook", schema: WebhookSchema } },
  },
  putWebhook: {
    ...WRITES,
    ...OF_ONE,
    method: "PUT",
    path: ONE,
    allows: "edit",
    audit: "webhook.update",
    summary: "Change a webhook",
    description: "What is left out stays. Messages that wait go to the new URL. That of starts has no URL.",
    problems: ["NOT_FOUND", "CONFLICT"],
    body: Type.Object(
      { url: Type.Optional(Url), events: Type.Optional(Events), isPaused: Type.Optional(Type.Boolean()) },
      { additionalProperties: false, title: "PutWebhookRequest", description: "What is changed" },
    ),
    responses: { 200: { description: "Changed", schema: WebhookSchema } },
  },
  deleteWebhook: {
    ...REMOVES,
    ...OF_ONE,
    path: ONE,
    allows: "edit",
    audit: "webhook.delete",
    summary: "Delete a webhook",
    description:
      "With the messages that wait, and the log of what was sent. That of starts stays, and can be paused.",
    problems: ["NOT_FOUND", "CONFLICT"],
    responses: { 204: { description: "Deleted" } },
  },
  rotateWebhookSecret: {
    ...WRITES,
    ...OF_ONE,
    path: `${ONE}/rotate-secret`,
    allows: "edit",
    audit: "webhook.rotate",
    bodyMode: "optional",
    summary: "Give a webhook a new secret, shown once",
    description: "Messages are signed with the former one as well for a while. The body may be missing.",
    body: Type.Object(
      {
        oldEndsInHours: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 168,
            description: "For so long the former secret signs too; default 24",
          }),
        ),
      },
      {
        additionalProperties: false,
        title: "RotateWebhookSecretRequest",
        description: "When the former one ends",
      },
    ),
    responses: { 200: { description: "Changed", schema: CreatedWebhookSchema } },
  },
  testWebhook: {
    ...WRITES,
    ...OF_ONE,
    path: `${ONE}/test`,
    allows: "edit",
    audit: "webhook.test",
    bodyMode: "none",
    summary: "Send a test message to a webhook",
    description: "Signed as any other, with the event test; also while it is paused.",
    responses: { 201: { description: "The message", schema: DeliverySchema } },
    problems: ["NOT_FOUND", "QUOTA_EXCEEDED", "CONFLICT"],
  },
  listWebhookDeliveries: {
    ...READS,
    ...OF_ONE,
    path: `${ONE}/deliveries`,
    summary: "List the messages to a webhook",
    description: "Newest first; kept for seven days.",
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(StringEnum(DELIVERY_STATUSES, { description: "Only messages with this status" })),
    }),
    responses: { 200: { description: "One page", schema: pageOf("WebhookDeliveryPage", DeliverySchema) } },
  },
  redeliverWebhook: {
    ...WRITES,
    path: `${ONE}/deliveries/{deliveryId}/redeliver`,
    allows: "edit",
    audit: "webhook.redeliver",
    bodyMode: "none",
    summary: "Send a message again",
    description: "At once, with the same id, and for another day if it fails; also one that was delivered.",
    params: DeliveryParams,
    responses: { 200: { description: "The message", schema: DeliverySchema } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
