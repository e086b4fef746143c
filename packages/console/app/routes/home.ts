import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { q } from "../api/queries.ts";
import { organisation } from "./root.ts";

const home = createRoute({
  getParentRoute: () => organisation,
  path: "/",
  loader: ({ context: { load } }) =>
    Promise.all([
      load(q("listServices", { query: { limit: 5 } })),
      load(q("listApplications", { query: { limit: 1 } })),
      load(q("listSubscriptions", { query: { limit: 1 } })),
    ]),
  component: lazyRouteComponent(() => import("../pages/home/home-page.tsx"), "HomePage"),
});

/** The first page of an organisation. */
export const homeRoutes = [home] as const;
