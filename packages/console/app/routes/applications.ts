import { createRoute, notFound } from "@tanstack/react-router";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { load, pages, q, toQueryOptions } from "../api/queries.ts";
import type { Scope } from "../api/scope.tsx";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

/* Parsers stand before their route: within it, TypeScript would take their parameters for unknown. */
const applicationsSearch = search({ new: oneOf("application") });
const applicationSearch = search({
  tab: oneOf("subscriptions", "keys", "token", "webhooks"),
  new: oneOf("subscription", "key", "webhook"),
  rotate: text(),
  webhook: text(),
  messages: text(),
  edit: oneOf("name"),
});

const applications = createRoute({
  getParentRoute: () => organisation,
  path: "applications",
  validateSearch: applicationsSearch,
  loader: ({ context: { load } }) =>
    Promise.all([
      load(pages("listApplications", {})),
      load(q("listSubscriptions", { query: { limit: MAX_PAGE_SIZE } })),
    ]),
  component: lazyPage(() => import("../pages/applications/applications-page.tsx"), "ApplicationsPage"),
});

const application = createRoute({
  getParentRoute: () => organisation,
  path: "applications/$id",
  validateSearch: applicationSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader: ({ context: { load }, params: { id }, deps: { tab } }) =>
    Promise.all([
      load(q("getApplication", { params: { id } })),
      load(pages("listSubscriptions", { query: { applicationId: id } })),
      load(pages("listAccessKeys", { params: { id } })),
      ...(tab === "webhooks" ? [load(pages("listWebhooks", { params: { id } }))] : []),
    ]),
  component: lazyPage(() => import("../pages/applications/application-page.tsx"), "ApplicationPage"),
});

/** Of another application than the address says, there is none: its page says who calls, and who pays. */
async function loadSubscription(scope: Scope, { id, sid }: { readonly id: string; readonly sid: string }) {
  const wanted = q("getSubscription", { params: { id: sid } });
  await Promise.all([load(scope, q("getApplication", { params: { id } })), load(scope, wanted)]);
  const { applicationId } = await scope.queries.ensureQueryData(toQueryOptions(scope, wanted));
  if (applicationId !== id.toLowerCase()) throw notFound();
}

const subscriptionSearch = search({ edit: oneOf("terms") });

const subscription = createRoute({
  getParentRoute: () => organisation,
  path: "applications/$id/subscriptions/$sid",
  validateSearch: subscriptionSearch,
  loader: ({ context: { scope }, params }) => loadSubscription(scope, params),
  component: lazyPage(() => import("../pages/applications/subscription-page.tsx"), "SubscriptionPage"),
});

const trySearch = search({ version: text(), from: text() });

const trySubscription = createRoute({
  getParentRoute: () => organisation,
  path: "applications/$id/subscriptions/$sid/try",
  validateSearch: trySearch,
  loader: ({ context: { scope }, params }) => loadSubscription(scope, params),
  component: lazyPage(() => import("../pages/applications/try-subscription-page.tsx"), "TrySubscriptionPage"),
});

/** Applications, their keys and subscriptions. */
export const applicationRoutes = [applications, application, subscription, trySubscription] as const;
