import { formatTimestamp } from "@platform/contract/execution";
import type {
  Listing,
  MARKETPLACE_API,
  MarketplaceCard,
  MarketplaceEntry,
} from "@platform/contract/platform-api/marketplace";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ListingRecord } from "../store/listings.ts";
import type { CardRecord, EntryRecord } from "../store/marketplace.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";
import { createClientHandlers } from "./clients.ts";
import type { ClientDeps } from "./clients.ts";
import { toPlanBody } from "./plans.ts";

const EMPTY = {
  summary: "",
  tags: [],
  contact: null,
  icon: null,
  exampleInput: null,
  description: null,
  sharesFigures: false,
};

/** For how many days the platform keeps executions. */
export interface KeptByPlatform {
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  /** The most that a service may say. */
  readonly maxRetentionDays: number;
}

/** Handlers of listings and of the marketplace. */
export function createMarketplaceHandlers({
  listings,
  marketplace,
  clientPackages,
  ...kept
}: Pick<Stores, "listings" | "marketplace"> & ClientDeps & KeptByPlatform): OperationHandlers<
  typeof MARKETPLACE_API,
  PlatformCaller
> {
  return {
    getListing: async ({ caller, params }) => ({
      status: 200,
      body: toListingBody(await listings.find(caller.organisationId, params.key)),
    }),
    putListing: async ({ caller, params, body: { revision: replaces, ...body } }) => {
      const listing = { ...EMPTY, ...body, replaces };
      return {
        status: 200,
        body: toListingBody(await listings.put(caller.organisationId, params.key, listing)),
      };
    },
    listMarketplace: async ({ caller, query }) => {
      const { q: words, tag, price, sort } = query;
      const search = { ...readPage(query), words, tag, isFree: price === "free", sort };
      const page = await marketplace.list(caller.organisationId, search);
      return { status: 200, body: { items: page.items.map(toCardBody), nextCursor: page.nextCursor } };
    },
    getMarketplaceEntry: async ({ caller, params }) => {
      const entry = await marketplace.find(caller.organisationId, params.key);
      if (!entry) throw new Problem("SERVICE_NOT_FOUND");
      return { status: 200, body: { ...toEntryBody(entry), ...describeKept(entry, kept) } };
    },
    ...createClientHandlers({ marketplace, clientPackages }),
  };
}

/** @throws Problem SERVICE_NOT_FOUND without a record */
function toListingBody(listing: ListingRecord | null): Listing {
  if (listing === null) throw new Problem("SERVICE_NOT_FOUND");
  const { changedAt, tags, ...texts } = listing;
  return { ...texts, tags: [...tags], changedAt: changedAt === null ? null : formatTimestamp(changedAt) };
}

function toCardBody(card: CardRecord): MarketplaceCard {
  return { ...card, tags: [...card.tags] };
}

/** What is started now is stored with these days (engine/executions/retention.ts). */
function describeKept(
  entry: Pick<EntryRecord, "resultDays" | "logDays">,
  { retentionDays, logRetentionDays, maxRetentionDays }: KeptByPlatform,
): Pick<MarketplaceEntry, "resultDays" | "logDays"> {
  const resultDays = Math.min(entry.resultDays ?? retentionDays, maxRetentionDays);
  return { resultDays, logDays: Math.min(entry.logDays ?? logRetentionDays, resultDays) };
}

function toEntryBody(entry: EntryRecord): Omit<MarketplaceEntry, "resultDays" | "logDays"> {
  return {
    ...entry,
    ...toCardBody(entry),
    versions: entry.versions.map(({ version, createdAt }) => ({
      version,
      createdAt: formatTimestamp(createdAt),
    })),
    plans: entry.plans.map(toPlanBody),
    subscriptions: [...entry.subscriptions],
  };
}
