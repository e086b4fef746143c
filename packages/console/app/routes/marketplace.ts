import { createRoute } from "@tanstack/react-router";
import { MARKETPLACE_SORTS } from "@platform/contract/platform-api/marketplace-sorts";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { pages, q } from "../api/queries.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const marketplaceSearch = search({
  q: text(SEARCH_LIMITS.marketplace),
  tag: text(SEARCH_LIMITS.marketplaceTag),
  price: oneOf("free"),
  sort: oneOf(...MARKETPLACE_SORTS),
});
const entrySearch = search({
  tab: oneOf("description", "plans", "schemas", "versions", "clients"),
  version: text(),
  new: oneOf("subscription"),
  plan: text(),
});

const marketplace = createRoute({
  getParentRoute: () => organisation,
  path: "marketplace",
  validateSearch: marketplaceSearch,
  loaderDeps: ({ search: query }) => query,
  loader: ({ context: { load }, deps }) => load(pages("listMarketplace", { query: deps })),
  component: lazyPage(() => import("../pages/marketplace/marketplace-page.tsx"), "MarketplacePage"),
});

const entry = createRoute({
  getParentRoute: () => organisation,
  path: "marketplace/$key",
  validateSearch: entrySearch,
  loader: ({ context: { load }, params: { key } }) => load(q("getMarketplaceEntry", { params: { key } })),
  component: lazyPage(() => import("../pages/marketplace/entry-page.tsx"), "EntryPage"),
});

/** What can be subscribed to. */
export const marketplaceRoutes = [marketplace, entry] as const;
