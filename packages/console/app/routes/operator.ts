import { createRoute } from "@tanstack/react-router";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { mayCall } from "../api/access.ts";
import { pages, q } from "../api/queries.ts";
import { toSeriesQuery } from "../util/series-query.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { signedIn } from "./root.ts";

const activitySearch = search({ span: oneOf("day", "week") });
const usersSearch = search({
  q: text(SEARCH_LIMITS.operator),
  state: oneOf("enabled", "disabled", "operator"),
});
const organisationsSearch = search({ q: text(SEARCH_LIMITS.operator) });

const loadNothing = (): Promise<void> => Promise.resolve();

const operator = createRoute({
  getParentRoute: () => signedIn,
  path: "operator",
  beforeLoad: ({ context: { scope, load } }) => {
    // What others would be refused is not asked for.
    const allowed: typeof load = mayCall(scope, "getInstance") ? load : loadNothing;
    return { load: allowed };
  },
  component: lazyPage(() => import("../pages/operator/operator-root.tsx"), "OperatorRoot"),
});

const health = createRoute({
  getParentRoute: () => operator,
  path: "/",
  loader: ({ context: { load } }) => load(q("getInstance", {})),
  component: lazyPage(() => import("../pages/operator/health-page.tsx"), "HealthPage"),
});

const activity = createRoute({
  getParentRoute: () => operator,
  path: "activity",
  validateSearch: activitySearch,
  loaderDeps: ({ search: { span } }) => toSeriesQuery(span ?? "hour", Date.now()),
  loader: ({ context: { load }, deps }) => load(q("getSeries", { query: deps })),
  component: lazyPage(() => import("../pages/operator/activity-page.tsx"), "ActivityPage"),
});

const workers = createRoute({
  getParentRoute: () => operator,
  path: "workers",
  loader: ({ context: { load } }) => load(pages("listWorkers", {})),
  component: lazyPage(() => import("../pages/operator/workers-page.tsx"), "WorkersPage"),
});

const backendsSearch = search({ new: oneOf("backend", "alias") });

const backends = createRoute({
  getParentRoute: () => operator,
  path: "backends",
  validateSearch: backendsSearch,
  loader: ({ context: { load } }) => load(pages("listPlatformBackends", {})),
  component: lazyPage(() => import("../pages/operator/backends-page.tsx"), "SharedBackendsPage"),
});

const storage = createRoute({
  getParentRoute: () => operator,
  path: "storage",
  loader: ({ context: { load } }) => load(q("getStorage", {})),
  component: lazyPage(() => import("../pages/operator/storage-page.tsx"), "StoragePage"),
});

const users = createRoute({
  getParentRoute: () => operator,
  path: "users",
  validateSearch: usersSearch,
  loaderDeps: ({ search: given }) => given,
  loader: ({ context: { load }, deps }) => load(pages("listUsers", { query: deps })),
  component: lazyPage(() => import("../pages/operator/users-page.tsx"), "UsersPage"),
});

const organisations = createRoute({
  getParentRoute: () => operator,
  path: "organizations",
  validateSearch: organisationsSearch,
  loaderDeps: ({ search: given }) => given,
  loader: ({ context: { load }, deps }) => load(pages("listAllOrganizations", { query: deps })),
  component: lazyPage(() => import("../pages/operator/organisations-page.tsx"), "OrganisationsPage"),
});

const settings = createRoute({
  getParentRoute: () => operator,
  path: "settings",
  loader: ({ context: { load } }) => load(q("getInstance", {})),
  component: lazyPage(() => import("../pages/operator/settings-page.tsx"), "SettingsPage"),
});

/** The platform itself, for those who run it: the server answers nobody else. */
export const operatorRoutes = [
  operator.addChildren([health, activity, workers, backends, storage, users, organisations, settings]),
] as const;
