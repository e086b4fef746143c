import { createRoute } from "@tanstack/react-router";
import { pages } from "../api/queries.ts";
import { explainPeriod } from "../util/days.ts";
import { DIMENSION_WORDS, MOST_PAGES, SIDE_WORDS, toUsageQuery } from "../usage/query.ts";
import type { Dimension, Side } from "../usage/query.ts";
import { day, oneOf, search } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const usageSearch = search({
  from: day(),
  to: day(),
  by: oneOf(...(Object.keys(DIMENSION_WORDS) as Dimension[])),
  side: oneOf(...(Object.keys(SIDE_WORDS) as Side[])),
});

const usage = createRoute({
  getParentRoute: () => organisation,
  path: "usage",
  validateSearch: usageSearch,
  loaderDeps: ({ search: given }) => toUsageQuery(given, Date.now()),
  loader: async ({ context: { load }, deps }) => {
    // The page says what is wrong with the period.
    if (explainPeriod(deps) === null) await load(pages("getUsage", { query: deps }), MOST_PAGES);
  },
  component: lazyPage(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
});

/** What was used, and what it costs. */
export const usageRoutes = [usage] as const;
