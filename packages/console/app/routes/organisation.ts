import { createRoute } from "@tanstack/react-router";
import { mayCall } from "../api/access.ts";
import { pages, q } from "../api/queries.ts";
import { auditSearch, toAuditFilter } from "../pages/audit/filter.ts";
import { ALL_VARIABLES } from "../util/all-variables.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { organisation } from "./root.ts";

const settingsSearch = search({
  edit: oneOf("organisation"),
  new: oneOf("variable", "secret", "webhook", "budget"),
  budget: text(),
  variable: text(),
  secret: text(),
  webhook: text(),
  messages: text(),
});
const membersSearch = search({ new: oneOf("invitation"), role: text() });

const members = createRoute({
  getParentRoute: () => organisation,
  path: "members",
  validateSearch: membersSearch,
  loader: ({ context: { load, scope } }) =>
    Promise.all([
      load(pages("listMembers", {})),
      mayCall(scope, "listInvitations") ? load(pages("listInvitations", {})) : null,
    ]),
  component: lazyPage(() => import("../pages/members/members-page.tsx"), "MembersPage"),
});

const audit = createRoute({
  getParentRoute: () => organisation,
  path: "audit",
  validateSearch: auditSearch,
  loaderDeps: ({ search: given }) => toAuditFilter(given),
  loader: ({ context: { load, scope }, deps: query }) =>
    mayCall(scope, "listAuditEvents") ? load(pages("listAuditEvents", { query })) : null,
  component: lazyPage(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});

const settings = createRoute({
  getParentRoute: () => organisation,
  path: "settings",
  validateSearch: settingsSearch,
  loader: ({ context: { load } }) =>
    Promise.all([
      load(pages("listOrganizationVariables", { query: ALL_VARIABLES })),
      load(pages("listOrganizationSecrets", { query: ALL_VARIABLES })),
      load(pages("listWebhooks", { params: { id: "jobs" } })),
      load(q("listQuantumBudgets", {})),
    ]),
  component: lazyPage(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
});

/** The organisation itself: who belongs to it, what was done in it, what its services get. */
export const organisationRoutes = [members, audit, settings] as const;
