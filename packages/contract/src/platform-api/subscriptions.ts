import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { NAME_PATTERN } from "../visible-text.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { VersionParams } from "./builds.ts";
import { KeyParams, ServiceKey, VersionNumber, idOf } from "./common.ts";
import { PlanId, PlanSchema, PlanUnit } from "./plans.ts";
import { VersionState } from "./services.ts";

/** Which version the endpoint URL of a subscription names. */
export const FollowedVersion = Type.String({
  pattern: "^(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8}))?$",
  description:
    "MAJOR.MINOR.PATCH pins this version; MAJOR alone follows the highest live version of this major number",
  examples: ["1"],
});

const Version = Nullable(FollowedVersion, {
  description: "Which version the endpoint URL names; null: the highest live version",
});

const Choosable = StringEnum(["ACTIVE", "PAUSED"], {
  description:
    "ACTIVE: starts executions. PAUSED: starts are refused; states and results of earlier executions stay",
});

const Status = StringEnum(["ACTIVE", "PAUSED", "ENDED"], {
  title: "SubscriptionState",
  description:
    "ACTIVE: starts executions. PAUSED: starts are refused; states and results of earlier executions stay. ENDED: the same, by the provider and for good",
});

const EndReason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: NAME_PATTERN,
  description: "Why the provider has ended it, one line, as the subscriber reads it",
});

const End = {
  endedAt: Nullable(Timestamp("When the provider ended it"), {
    description: "When the provider of the service ended it; null: it has not",
  }),
  endReason: Nullable(EndReason, { description: "Why; null: it has not ended" }),
};

const SharesLogs = Type.Boolean({
  description:
    "Whether the provider of the service may read the logs of what the application starts, also of earlier executions; default: false. Inputs and results are never shown to the provider",
});

const Quota = Type.Object(
  {
    unit: PlanUnit,
    used: Type.Number({
      minimum: 0,
      description:
        "Units of this month: executions, or the CPU time of those that ended and what is held for those that have not",
    }),
    limit: Type.Integer({ description: "Units of each month" }),
    resetsAt: Timestamp("When the month ends"),
  },
  { title: "SubscriptionQuota", description: "How much of the plan's cap is used" },
);

const Concurrency = Type.Object(
  {
    used: Type.Integer({ minimum: 0, description: "Executions that wait or run" }),
    limit: Type.Integer({ description: "Beyond it, starts are refused" }),
  },
  { title: "SubscriptionConcurrency", description: "How many executions the plan has at one time" },
);

/** Permission of an application to call a service. */
const SubscriptionSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the subscription" }),
    applicationId: Type.String({ description: "Identifier of the application" }),
    serviceKey: ServiceKey,
    serviceName: Type.String({ description: "Name of the service" }),
    status: Status,
    sharesLogs: SharesLogs,
    version: Version,
    versionStatus: Nullable(VersionState, {
      description:
        "Of the version that its endpoint URL names. RETIRED: the version that it is pinned to, or each of the major number that it follows, was retired: states and results of earlier executions stay, and starts of that version are refused. null: it names the highest live version, and none is live",
    }),
    latestVersion: Nullable(VersionNumber, {
      description:
        "The highest live version of the service; null: none is live, or the subscription has ended and the service is not offered any more",
    }),
    plan: Nullable(PlanSchema, {
      description: "The terms it was made with; null: within the organisation of the service, without a plan",
    }),
    quota: Nullable(Quota, { description: "The plan's cap; null: it has none" }),
    concurrency: Nullable(Concurrency, {
      description: "The plan's limit of executions at one time; null: it has none",
    }),
    isOffered: Type.Boolean({
      description:
        "false: the service was withdrawn and takes no new subscriptions; this one works until it is removed, or ended by the provider",
    }),
    endpointUrl: Nullable(Type.String(), {
      description:
        "Endpoint URL of the version that it names, with a final slash; null before the first version is live. All live versions may be called",
    }),
    ...End,
    createdAt: Timestamp("When it was created"),
  },
  { title: "Subscription", description: "Lets an application call a service" },
);

/** Permission of an application to call a service. */
export type Subscription = Static<typeof SubscriptionSchema>;

/** A subscription as the provider of the service sees it: nothing of what it sends or gets. */
const SubscriberSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the subscription" }),
    organizationName: Type.String({ description: "Name of the organisation that subscribed" }),
    applicationName: Type.String({ description: "Name of the application" }),
    status: Status,
    version: Version,
    planId: Nullable(PlanId, { description: "Its plan; null: none" }),
    planRevision: Nullable(Type.Integer(), { description: "The revision of the plan; null: no plan" }),
    executions30d: Type.Integer({
      minimum: 0,
      description:
        "Executions that it has started in the last 30 days (UTC, today included) and that have ended",
    }),
    ...End,
    createdAt: Timestamp("When it was created"),
  },
  { title: "Subscriber", description: "A subscription as the provider of the service sees it" },
);

/** A subscription as the provider of the service sees it. */
export type Subscriber = Static<typeof SubscriberSchema>;

/** Calls of a version are told of so many days. */
export const CALLER_DAYS = 30;

/** Who calls a version, as the provider of the service sees it: counts and days, nothing of what was sent. */
const CallerSchema = Type.Object(
  {
    subscriptionId: Type.String({ description: "Identifier of the subscription" }),
    organizationName: Type.String({ description: "Name of the organisation that subscribed" }),
    applicationName: Type.String({ description: "Name of the application" }),
    status: Status,
    version: Version,
    executions: Type.Integer({
      minimum: 0,
      description: `How many executions of this version it has started within ${CALLER_DAYS} days (UTC); they count once they have ended`,
    }),
    lastDay: Nullable(Type.String(), {
      description: "The day on which it has started the last of them, YYYY-MM-DD in UTC; null: none",
    }),
  },
  { title: "VersionCaller", description: "A subscription that calls a version of a service" },
);

/** A subscription that calls a version of a service. */
export type VersionCaller = Static<typeof CallerSchema>;

const PLAN_CHOICE = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 63,
    description:
      "Plan of the service. Needed where the service is another organisation's and has no single free plan",
  }),
);

/** Subscriptions: seen by those who call, and by those who provide. */
export const SUBSCRIPTIONS_API = {
  listSubscriptions: {
    ...READS,
    path: "/subscriptions",
    summary: "List the subscriptions of the organisation's applications",
    description: "Newest first; those that were removed are not listed.",
    query: Type.Object({
      ...PageQuery.properties,
      applicationId: Type.Optional(Type.String({ description: "Only subscriptions of this application" })),
    }),
    responses: { 200: { description: "One page", schema: pageOf("SubscriptionPage", SubscriptionSchema) } },
  },
  createSubscription: {
    ...WRITES,
    path: "/subscriptions",
    allows: "edit",
    audit: "subscription.create",
    summary: "Subscribe an application to a published service",
    description:
      "The service is the organisation's own and published, or in the marketplace. Access tokens of the application's keys may call every live version of it.",
    body: Type.Object(
      {
        applicationId: Type.String({ description: "Identifier of the application" }),
        serviceKey: ServiceKey,
        version: Type.Optional(FollowedVersion),
        planId: PLAN_CHOICE,
      },
      {
        additionalProperties: false,
        title: "CreateSubscriptionRequest",
        description: "The application, the service, and on which terms",
      },
    ),
    responses: { 201: { description: "Created", schema: SubscriptionSchema } },
    problems: ["NOT_FOUND", "SERVICE_NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  getSubscription: {
    ...READS,
    path: "/subscriptions/{id}",
    summary: "Get a subscription",
    description: "Only subscriptions of the organisation's applications are found.",
    params: idOf("subscription"),
    responses: { 200: { description: "Subscription", schema: SubscriptionSchema } },
    problems: ["NOT_FOUND"],
  },
  putSubscription: {
    ...WRITES,
    method: "PUT",
    path: "/subscriptions/{id}",
    allows: "edit",
    audit: "subscription.update",
    summary: "Pause or resume a subscription, change its plan, the version it names, or who reads its logs",
    description:
      "What is absent stays; one that the provider has ended cannot be changed. A plan is changed to its current revision, also when the subscription has an older one of it. Gateways follow within a second.",
    params: idOf("subscription"),
    body: Type.Object(
      {
        status: Type.Optional(Choosable),
        sharesLogs: Type.Optional(SharesLogs),
        version: Type.Optional(Version),
        planId: PLAN_CHOICE,
      },
      {
        additionalProperties: false,
        minProperties: 1,
        title: "PutSubscriptionRequest",
        description: "What to change",
      },
    ),
    responses: { 200: { description: "Changed", schema: SubscriptionSchema } },
    problems: ["NOT_FOUND", "SERVICE_NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  cancelSubscription: {
    ...REMOVES,
    path: "/subscriptions/{id}",
    allows: "edit",
    audit: "subscription.cancel",
    summary: "Remove a subscription of an application",
    description:
      "Within a second, gateways refuse calls of the service by the application. Its executions are cancelled: those that wait at once, those that run within seconds.",
    params: idOf("subscription"),
    responses: { 204: { description: "Removed" } },
    problems: ["NOT_FOUND"],
  },
  listServiceSubscriptions: {
    ...READS,
    path: "/services/{key}/subscriptions",
    allows: "edit",
    summary: "List who has subscribed to a service",
    description: "Newest first, of all organisations; nothing of what they send to it.",
    params: KeyParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("SubscriberPage", SubscriberSchema) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  listVersionCallers: {
    ...READS,
    path: "/services/{key}/versions/{version}/callers",
    allows: "edit",
    summary: "List which subscriptions call a version",
    description: `Those that have started executions of it within ${CALLER_DAYS} days, and those whose endpoint URL is pinned to it; newest subscription first, of all organisations. Only what is counted as usage: nothing of what they send to it.`,
    params: VersionParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("VersionCallerPage", CallerSchema) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  endSubscription: {
    ...WRITES,
    path: "/services/{key}/subscriptions/{subscriptionId}/end",
    allows: "administer",
    audit: "subscription.end",
    answerMode: "none",
    summary: "End a subscription to a service as its provider",
    description:
      "Within a second, gateways refuse its starts with `SUBSCRIPTION_ENDED` and the reason. What it has started goes on, and the subscriber still reads states, results and logs, and cancels. For good: the application may subscribe anew, while the service is offered, when its organisation has removed this one. No monthly fee is due for the days after. One that was ended before stays as it is, with its first reason.",
    params: Type.Object({
      ...KeyParams.properties,
      subscriptionId: Type.String({ description: "Identifier of the subscription" }),
    }),
    body: Type.Object(
      { reason: EndReason },
      {
        additionalProperties: false,
        title: "EndSubscriptionRequest",
        description: "What the subscriber is told",
      },
    ),
    responses: { 204: { description: "It has ended" } },
    problems: ["SERVICE_NOT_FOUND", "NOT_FOUND"],
  },
} as const satisfies OperationTable;
