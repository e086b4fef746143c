import { createRoute } from "@tanstack/react-router";
import { q } from "../api/queries.ts";
import { findLastDay } from "../util/last-day.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const home = createRoute({
  getParentRoute: () => organisation,
  path: "/",
  loader: async ({ context: { load } }) => {
    const since = findLastDay(Date.now());
    await Promise.all([
      load(q("listServices", { query: { limit: 5 } })),
      load(q("countExecutions", { query: { createdAfter: since } })),
    ]);
    return { since };
  },
  component: lazyPage(() => import("../pages/home/home-page.tsx"), "HomePage"),
});

/** The first page of an organisation. */
export const homeRoutes = [home] as const;
