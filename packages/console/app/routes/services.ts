import { createRoute, notFound } from "@tanstack/react-router";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { mayCall } from "../api/access.ts";
import { isNotFound } from "../api/explain-error.ts";
import { pages, q } from "../api/queries.ts";
import { ALL_VARIABLES } from "../util/all-variables.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const servicesSearch = search({
  q: text(SEARCH_LIMITS.service),
  publication: oneOf("internal", "marketplace", "none"),
});
const serviceSearch = search({
  tab: oneOf("overview", "versions", "builds", "listing", "plans", "subscribers", "api"),
  new: oneOf("version", "plan"),
  plan: text(),
});
/** They are of all services of the organisation's applications, and those of one are wanted. */
const MOST_SUBSCRIPTION_PAGES = 10;
const versionSearch = search({ tab: oneOf("build", "schemas", "changes", "requirements", "callers") });

const services = createRoute({
  getParentRoute: () => organisation,
  path: "services",
  validateSearch: servicesSearch,
  loaderDeps: ({ search: query }) => query,
  loader: ({ context: { load }, deps }) => load(pages("listServices", { query: deps })),
  component: lazyPage(() => import("../pages/services/services-page.tsx"), "ServicesPage"),
});

const newService = createRoute({
  getParentRoute: () => organisation,
  path: "services/new",
  component: lazyPage(() => import("../pages/services/new-service-page.tsx"), "NewServicePage"),
});

const trySearch = search({ version: text(), from: text() });

const tryService = createRoute({
  getParentRoute: () => organisation,
  path: "services/$key/try",
  validateSearch: trySearch,
  loader: ({ context: { load }, params: { key } }) =>
    Promise.all([
      load(q("getService", { params: { key } })),
      load(pages("listVersions", { params: { key } })),
    ]),
  component: lazyPage(() => import("../pages/services/try-page.tsx"), "TryPage"),
});

const service = createRoute({
  getParentRoute: () => organisation,
  path: "services/$key",
  validateSearch: serviceSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader: ({ context: { load, scope }, params: { key }, deps: { tab } }) =>
    Promise.all([
      load(q("getService", { params: { key } })),
      load(pages("listVersions", { params: { key } })),
      load(pages("listBuilds", { params: { key } })),
      ...(tab === "listing" ? [load(q("getListing", { params: { key } }))] : []),
      ...(tab === "listing" || tab === "plans" ? [load(pages("listPlans", { params: { key } }))] : []),
      ...(tab === "api"
        ? [load(pages("listSubscriptions", { query: { limit: MAX_PAGE_SIZE } }), MOST_SUBSCRIPTION_PAGES)]
        : []),
      // Who may not read it is told so by the page.
      ...(tab === "subscribers" && mayCall(scope, "listServiceSubscriptions")
        ? [load(pages("listServiceSubscriptions", { params: { key } }))]
        : []),
    ]),
  component: lazyPage(() => import("../pages/services/service-page.tsx"), "ServicePage"),
});

const settingsSearch = search({
  tab: oneOf("runs", "kept", "variables", "deletion"),
  new: oneOf("variable", "secret"),
  set: text(),
});

const settings = createRoute({
  getParentRoute: () => organisation,
  path: "services/$key/settings",
  validateSearch: settingsSearch,
  loader: ({ context: { load }, params: { key } }) =>
    Promise.all([
      load(q("getService", { params: { key } })),
      load(q("getPolicy", { params: { key } })),
      load(pages("listVariables", { params: { key }, query: ALL_VARIABLES })),
      load(pages("listSecrets", { params: { key }, query: ALL_VARIABLES })),
      load(pages("listVersions", { params: { key } })),
    ]),
  component: lazyPage(() => import("../pages/services/settings-page.tsx"), "ServiceSettingsPage"),
});

const VERSION = /^\d+\.\d+\.\d+$/u;

const version = createRoute({
  getParentRoute: () => organisation,
  path: "services/$key/versions/$version",
  validateSearch: versionSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader: ({ context: { load, scope }, params: { key, version: number }, deps: { tab } }) =>
    Promise.all([
      load(q("getService", { params: { key } })),
      VERSION.test(number)
        ? load(q("getVersion", { params: { key, version: number } })).catch(async (error: unknown) => {
            // A build that failed or runs has no version: the page says so. Without a build either, there is no page.
            if (isNotFound(error)) await load(q("getBuild", { params: { key, version: number } }));
          })
        : Promise.reject(notFound()),
      ...(tab === "callers" && mayCall(scope, "listVersionCallers")
        ? [load(pages("listVersionCallers", { params: { key, version: number } })).catch(() => undefined)]
        : []),
    ]),
  component: lazyPage(() => import("../pages/services/version-page.tsx"), "VersionPage"),
});

/** Services, their versions and builds. */
export const serviceRoutes = [services, newService, service, tryService, settings, version] as const;
