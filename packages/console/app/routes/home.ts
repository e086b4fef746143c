import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { q } from "../api/queries.ts";
import { formatTimestamp } from "../util/times.ts";
import { organisation } from "./root.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A day ago, to the hour: the same for an hour, so that what was counted is found again. */
function findSince(): string {
  return formatTimestamp(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - DAY_MS);
}

const home = createRoute({
  getParentRoute: () => organisation,
  path: "/",
  loader: async ({ context: { load } }) => {
    const since = findSince();
    await Promise.all([
      load(q("listServices", { query: { limit: 5 } })),
      load(q("countExecutions", { query: { createdAfter: since } })),
    ]);
    return { since };
  },
  component: lazyRouteComponent(() => import("../pages/home/home-page.tsx"), "HomePage"),
});

/** The first page of an organisation. */
export const homeRoutes = [home] as const;
