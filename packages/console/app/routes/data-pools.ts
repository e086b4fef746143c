import { createRoute } from "@tanstack/react-router";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { pages, q } from "../api/queries.ts";
import { toFileFilter } from "../pages/data-pools/filter.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const dataPoolsSearch = search({ new: oneOf("pool") });
const dataPoolSearch = search({
  tab: oneOf("files", "access"),
  new: oneOf("grant", "share"),
  edit: oneOf("pool"),
  rename: text(),
  q: text(SEARCH_LIMITS.poolFile),
});

const dataPools = createRoute({
  getParentRoute: () => organisation,
  path: "data-pools",
  validateSearch: dataPoolsSearch,
  loader: ({ context: { load } }) => load(pages("listDataPools", {})),
  component: lazyPage(() => import("../pages/data-pools/data-pools-page.tsx"), "DataPoolsPage"),
});

const dataPool = createRoute({
  getParentRoute: () => organisation,
  path: "data-pools/$id",
  validateSearch: dataPoolSearch,
  loaderDeps: ({ search: { q: words } }) => toFileFilter(words),
  loader: ({ context: { load }, deps: query, params: { id } }) =>
    Promise.all([
      load(q("getDataPool", { params: { id } })),
      load(pages("listPoolFiles", { params: { id }, query })),
      load(pages("listPoolGrants", { params: { id } })),
      load(pages("listPoolShares", { params: { id } })),
    ]),
  component: lazyPage(() => import("../pages/data-pools/data-pool-page.tsx"), "DataPoolPage"),
});

/** Data pools, their files, and who may use them. */
export const dataPoolRoutes = [dataPools, dataPool] as const;
