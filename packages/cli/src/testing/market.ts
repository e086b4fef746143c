import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { Listing } from "@platform/contract/platform-api/marketplace";
import type { Plan } from "@platform/contract/platform-api/plans";
import type { Service } from "@platform/contract/platform-api/services";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

const { publishService, unpublishService, listPlans, putPlan, archivePlan } = PLATFORM_API;
const { getListing, putListing } = PLATFORM_API;
const { listMarketplace, getMarketplaceEntry, createSubscription, listSubscriptions } = PLATFORM_API;
const { endSubscription } = PLATFORM_API;
const { putSubscription, cancelSubscription, listServiceSubscriptions, downloadClient } = PLATFORM_API;

/** The operations of plans, marketplace and subscriptions that the peer has. */
export const MARKET_TABLE = {
  publishService,
  unpublishService,
  listPlans,
  putPlan,
  archivePlan,
  getListing,
  putListing,
  listMarketplace,
  getMarketplaceEntry,
  createSubscription,
  listSubscriptions,
  putSubscription,
  cancelSubscription,
  listServiceSubscriptions,
  endSubscription,
  downloadClient,
};

type Handlers = OperationHandlers<typeof MARKET_TABLE, null>;

const AT = "2026-11-20 21:17:00";
const FREE: Plan = {
  id: "free",
  revision: 1,
  kind: "FREE",
  name: "Free",
  description: "",
  currency: null,
  monthly: "0",
  perExecution: "0",
  perCpuSecond: "0",
  unit: "execution",
  included: 0,
  limits: { perMonth: null, perMinute: null, concurrent: null, applications: null },
  createdAt: AT,
};

/** Key of the one service in the marketplace. */
export const OFFERED_KEY = "0198c1de-7a53-4000-8000-000000000009";

/** A version of it that was retired after it was subscribed to. */
export const RETIRED_VERSION = "1.1.0";

const CARD = {
  serviceKey: OFFERED_KEY,
  serviceName: "tsp",
  providerName: "Quantum Lab",
  providerSlug: "lab",
  publication: "marketplace" as const,
  title: "Round trips\u001b[31m",
  summary: "The shortest ones",
  tags: ["routing"],
  icon: null,
  latestVersion: "1.2.0",
  hasFreePlan: true,
  priceFrom: { currency: "EUR", monthly: "5", perExecution: "0", perCpuSecond: "0.01" },
  hasOtherPrices: true,
  figures: { successPercent: 98, medianRunMs: 1_448 },
};

/** Two organisations of one name have a service of one name. */
const CARDS = [
  CARD,
  ...["lab", "quantum-lab"].map((providerSlug, n) => ({
    ...CARD,
    serviceKey: `0198c1de-7a53-4000-8000-00000000000${n}`,
    serviceName: "knapsack",
    providerSlug,
    tags: [],
  })),
];

/** Services in the marketplace; plans of the services that a test makes; the subscriptions that it makes. */
export function createMarket(services: readonly Service[]): Handlers {
  const subscriptions: Subscription[] = [];
  return {
    ...createOffers(services),
    ...createListings(),
    listMarketplace: ({ query: { q, tag, price, sort } }) => {
      const isFound = (card: typeof CARD) =>
        (q === undefined || q === "round trips" || q === card.serviceName) &&
        (tag === undefined || tag === "routing");
      const found = price === "free" ? [CARD] : CARDS.filter(isFound);
      return {
        status: 200,
        body: { items: sort === "price" ? found.toReversed() : found, nextCursor: null },
      };
    },
    getMarketplaceEntry: ({ params }) => {
      if (params.key !== OFFERED_KEY) throw new Problem("SERVICE_NOT_FOUND");
      const details = { contact: "ada@example.org", exampleInput: null, description: "# Trips" };
      const schemas = { inputSchema: null, outputSchema: null, resultDays: 30, logDays: 7 };
      const versions = [{ version: "1.2.0", createdAt: AT }];
      return {
        status: 200,
        body: { ...CARD, ...details, ...schemas, versions, plans: [FREE], subscriptions: [] },
      };
    },
    createSubscription: ({ body: { applicationId, serviceKey, version = null, planId } }) => {
      const made: Subscription = {
        id: `subscription-${subscriptions.length + 1}`,
        applicationId,
        serviceKey,
        serviceName: "tsp",
        status: "ACTIVE",
        sharesLogs: false,
        version,
        versionStatus: version === RETIRED_VERSION ? "RETIRED" : "LIVE",
        latestVersion: "1.2.0",
        plan: { ...FREE, id: planId ?? "free" },
        quota: { unit: "cpu-second", used: 3.456, limit: 100, resetsAt: AT },
        concurrency: { used: 2, limit: 4 },
        isOffered: true,
        endedAt: null,
        endReason: null,
        endpointUrl: "https://gateway.example.org/tsp/1.2.0/",
        createdAt: AT,
      };
      subscriptions.push(made);
      return { status: 201, body: made };
    },
    listSubscriptions: () => ({ status: 200, body: { items: subscriptions, nextCursor: null } }),
    putSubscription: ({ params, body: { status, version } }) => {
      const found = subscriptions.find(({ id }) => id === params.id);
      if (found === undefined) throw new Problem("NOT_FOUND", "There is no such subscription.");
      if (status !== undefined) found.status = status;
      if (version !== undefined) found.version = version;
      return { status: 200, body: found };
    },
    cancelSubscription: ({ params }) => {
      const at = subscriptions.findIndex(({ id }) => id === params.id);
      if (at < 0) throw new Problem("NOT_FOUND", "There is no such subscription.");
      subscriptions.splice(at, 1);
      return { status: 204 };
    },
    downloadClient: ({ params: { key, version, language } }) => {
      const isKnown = key === OFFERED_KEY || services.some((service) => service.key === key);
      if (!isKnown || version === "9.9.9") throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: createZip(`${key} ${version} ${language}`) };
    },
    endSubscription: ({ params: { subscriptionId }, body: { reason } }) => {
      const found = subscriptions.find(({ id }) => id === subscriptionId);
      if (found === undefined) throw new Problem("NOT_FOUND", "There is no such subscription.");
      if (found.status !== "ENDED") found.endReason = reason;
      found.status = "ENDED";
      return { status: 204 };
    },
    listServiceSubscriptions: () => {
      const subscriber = {
        id: "subscription-9",
        organizationName: "Lab",
        applicationName: "shop",
        status: "PAUSED" as const,
        version: "1",
        planId: "pro",
        planRevision: 2,
        executions30d: 1234,
        endedAt: null,
        endReason: null,
        createdAt: AT,
      };
      return { status: 200, body: { items: [subscriber], nextCursor: null } };
    },
  };
}

function createZip(text: string) {
  const bytes = Buffer.from(text);
  const content = {
    hash: createHash("sha256").update(bytes).digest("hex"),
    bytes: bytes.length,
    open: ({ start, end }: { readonly start: number; readonly end: number }) =>
      Promise.resolve(Readable.from([bytes.subarray(start, end)])),
  };
  return { content, type: "application/zip", name: "client.zip" };
}

function createListings(): Pick<Handlers, "getListing" | "putListing"> {
  const none = {
    summary: "",
    tags: [],
    icon: null,
    contact: null,
    exampleInput: null,
    description: null,
    sharesFigures: false,
  };
  let listing: Listing = { ...none, title: "demo", revision: 0, changedAt: null };
  return {
    getListing: () => ({ status: 200, body: listing }),
    putListing: ({ body }) => {
      const { revision } = listing;
      if (body.revision !== undefined && body.revision !== revision) throw new Problem("CONFLICT");
      listing = { ...none, ...body, revision: revision + 1, changedAt: AT };
      return { status: 200, body: listing };
    },
  };
}

function createOffers(
  services: readonly Service[],
): Pick<Handlers, "publishService" | "unpublishService" | "listPlans" | "putPlan" | "archivePlan"> {
  const plans: Plan[] = [];
  const publish = (key: string, publication: Service["publication"]) => {
    const found = services.find((service) => service.key === key);
    if (found === undefined) throw new Problem("SERVICE_NOT_FOUND");
    found.publication = publication;
    return { status: 200 as const, body: found };
  };
  return {
    publishService: ({ params, body }) => publish(params.key, body.scope),
    unpublishService: ({ params }) => publish(params.key, null),
    listPlans: () => ({ status: 200, body: { items: plans, nextCursor: null } }),
    putPlan: ({ params, body }) => {
      const at = plans.findIndex(({ id }) => id === params.planId);
      const newest = plans[at]?.revision ?? 0;
      if (body.revision !== undefined && body.revision !== newest) throw new Problem("CONFLICT");
      const limits = { ...FREE.limits, ...body.limits };
      const plan: Plan = { ...FREE, ...body, id: params.planId, limits, revision: newest + 1 };
      if (at >= 0) plans.splice(at, 1);
      plans.push(plan);
      return { status: 201, body: plan };
    },
    archivePlan: ({ params }) => {
      const at = plans.findIndex(({ id }) => id === params.planId);
      if (at < 0) throw new Problem("NOT_FOUND", "There is no such plan.");
      plans.splice(at, 1);
      return { status: 204 };
    },
  };
}
