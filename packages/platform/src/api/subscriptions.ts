import { formatTimestamp } from "@platform/contract/execution";
import type {
  SUBSCRIPTIONS_API,
  Subscriber,
  Subscription,
  VersionCaller,
} from "@platform/contract/platform-api/subscriptions";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Stores } from "../store/stores.ts";
import type { SubscriberRecord, SubscriptionRecord } from "../store/subscriptions.ts";
import type { VersionCallerRecord } from "../store/versions/version-callers.ts";
import type { PlatformCaller } from "./caller.ts";
import { toPlanBody } from "./plans.ts";
import { findService } from "./find-service.ts";

type Handlers = OperationHandlers<typeof SUBSCRIPTIONS_API, PlatformCaller>;

/** What the handlers work with. */
interface Deps extends Pick<Stores, "services" | "subscriptions" | "versions"> {
  /** Origin of the gateway, without a final slash. */
  readonly gatewayUrl: string;
}

/** Handlers of subscriptions. */
export function createSubscriptionHandlers(deps: Deps): Handlers {
  return { ...createReaders(deps), ...createWriters(deps), ...createEnd(deps) };
}

function createEnd({ services, subscriptions }: Deps): Pick<Handlers, "endSubscription"> {
  return {
    endSubscription: async ({
      caller,
      params: { key: serviceKey, subscriptionId: id },
      body: { reason },
    }) => {
      await findService(services, caller, serviceKey);
      const { organisationId } = caller;
      const isEnded = await subscriptions.endAsProvider({ organisationId, serviceKey, id, reason });
      if (!isEnded) throw noSubscription();
      return { status: 204 };
    },
  };
}

function createReaders({
  services,
  subscriptions,
  versions,
  gatewayUrl,
}: Deps): Pick<
  Handlers,
  "listSubscriptions" | "getSubscription" | "listServiceSubscriptions" | "listVersionCallers"
> {
  return {
    listSubscriptions: async ({ caller, query }) => {
      const { applicationId } = query;
      const page = await subscriptions.list(caller.organisationId, { ...readPage(query), applicationId });
      const items = page.items.map((one) => toSubscriptionBody(one, gatewayUrl));
      return { status: 200, body: { items, nextCursor: page.nextCursor } };
    },
    getSubscription: async ({ caller, params }) => {
      const subscription = await subscriptions.find(caller.organisationId, params.id);
      if (!subscription) throw noSubscription();
      return { status: 200, body: toSubscriptionBody(subscription, gatewayUrl) };
    },
    listServiceSubscriptions: async ({ caller, params, query }) => {
      await findService(services, caller, params.key);
      const page = await subscriptions.listOfService(caller.organisationId, params.key, readPage(query));
      return { status: 200, body: { items: page.items.map(toSubscriberBody), nextCursor: page.nextCursor } };
    },
    listVersionCallers: async ({ caller, params: { key, version }, query }) => {
      if ((await versions.find(caller.organisationId, key, version)) === null)
        throw new Problem("SERVICE_NOT_FOUND");
      const called = { serviceKey: key, version };
      const page = await subscriptions.listCallers(caller.organisationId, called, readPage(query));
      return { status: 200, body: { items: page.items.map(toCallerBody), nextCursor: page.nextCursor } };
    },
  };
}

function createWriters({
  subscriptions,
  gatewayUrl,
}: Deps): Pick<Handlers, "createSubscription" | "putSubscription" | "cancelSubscription"> {
  return {
    createSubscription: async ({ caller, body }) => {
      const { applicationId, serviceKey, version, planId } = body;
      const terms = { version, planId };
      const created = await subscriptions.create(caller.organisationId, applicationId, serviceKey, terms);
      return {
        status: 201,
        body: toSubscriptionBody(created, gatewayUrl),
        headers: { location: `/api/subscriptions/${created.id}` },
      };
    },
    putSubscription: async ({ caller, params, body }) => {
      const { status, version, planId, sharesLogs } = body;
      const changed = await subscriptions.change(caller.organisationId, params.id, {
        version,
        planId,
        areLogsShared: sharesLogs,
        ...(status === undefined ? {} : { isPaused: status === "PAUSED" }),
      });
      if (!changed) throw noSubscription();
      return { status: 200, body: toSubscriptionBody(changed, gatewayUrl) };
    },
    cancelSubscription: async ({ caller, params }) => {
      if (!(await subscriptions.cancel(caller.organisationId, params.id))) throw noSubscription();
      return { status: 204 };
    },
  };
}

type Standing = Pick<SubscriptionRecord, "isPaused" | "endedAt" | "endReason">;

function toStatus({ isPaused, endedAt }: Standing): Subscription["status"] {
  if (endedAt !== null) return "ENDED";
  return isPaused ? "PAUSED" : "ACTIVE";
}

/** Where a major number is followed and no endpoint is found, all its versions are retired: one was live when it was chosen. */
function toVersionStatus({
  version,
  endpointVersion,
  isEndpointRetired,
}: SubscriptionRecord): Subscription["versionStatus"] {
  if (endpointVersion !== null) return isEndpointRetired ? "RETIRED" : "LIVE";
  return version === null ? null : "RETIRED";
}

function toEnd({ endedAt, endReason }: Standing): Pick<Subscription, "endedAt" | "endReason"> {
  return { endedAt: endedAt === null ? null : formatTimestamp(endedAt), endReason };
}

function noSubscription(): Problem {
  return new Problem("NOT_FOUND", "There is no such subscription.");
}

function toSubscriptionBody(subscription: SubscriptionRecord, gatewayUrl: string): Subscription {
  const { id, applicationId, serviceKey, serviceName, endpointVersion, plan, quota } = subscription;
  return {
    id,
    applicationId,
    serviceKey,
    serviceName,
    status: toStatus(subscription),
    sharesLogs: subscription.areLogsShared,
    version: subscription.version,
    versionStatus: toVersionStatus(subscription),
    latestVersion: subscription.latestVersion,
    plan: plan && toPlanBody(plan),
    quota: quota && { ...quota, resetsAt: formatTimestamp(quota.resetsAt) },
    concurrency: subscription.concurrency,
    isOffered: subscription.isOffered,
    endpointUrl:
      endpointVersion === null ? null : `${gatewayUrl}/${serviceKey}/${serviceName}/${endpointVersion}/`,
    ...toEnd(subscription),
    createdAt: formatTimestamp(subscription.createdAt),
  };
}

function toCallerBody(one: VersionCallerRecord): VersionCaller {
  return {
    subscriptionId: one.id,
    organizationName: one.organisationName,
    applicationName: one.applicationName,
    status: one.isPaused ? "PAUSED" : "ACTIVE",
    version: one.version,
    executions: one.executions,
    lastDay: one.lastDay,
  };
}

function toSubscriberBody(subscriber: SubscriberRecord): Subscriber {
  return {
    id: subscriber.id,
    organizationName: subscriber.organisationName,
    applicationName: subscriber.applicationName,
    status: toStatus(subscriber),
    version: subscriber.version,
    planId: subscriber.planId,
    planRevision: subscriber.planRevision,
    executions30d: subscriber.recentExecutions,
    ...toEnd(subscriber),
    createdAt: formatTimestamp(subscriber.createdAt),
  };
}
