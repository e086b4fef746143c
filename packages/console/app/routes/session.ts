import { createRoute, redirect } from "@tanstack/react-router";
import { load, q } from "../api/queries.ts";
import { createScope } from "../api/scope.tsx";
import { findMe } from "../api/session.ts";
import { LonelyRouteFailure } from "../shell/failures.tsx";
import { takeNext, toOwnPath } from "../util/own-path.ts";
import { readStored } from "../util/storage.ts";
import { address, search } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { root, signedIn } from "./root.ts";

const signInSearch = search({ next: address() });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  validateSearch: signInSearch,
  beforeLoad: async ({ context: { queries }, search: { next } }) => {
    if ((await findMe(queries)) !== null) throw redirect({ href: toOwnPath(next) });
  },
  loader: ({ context: { queries } }) => load(createScope(queries), q("getConfiguration", {})),
  component: lazyPage(() => import("../pages/sign-in/sign-in-page.tsx"), "SignInPage"),
  errorComponent: LonelyRouteFailure,
});

/** Where an identity provider sends the browser back to; what it said is in the query. */
const callback = createRoute({
  getParentRoute: () => root,
  path: "sign-in/callback",
  loader: async ({ context: { queries }, location }) => {
    // Nobody was sent here: a link that was kept, or an address that was typed.
    if (location.searchStr === "") throw redirect({ to: "/sign-in", replace: true });
    const { api } = createScope(queries);
    await api.finishExternalSignIn({ body: { parameters: location.searchStr.replace(/^\?/u, "") } });
    queries.clear();
    throw redirect({ href: takeNext(), replace: true });
  },
  errorComponent: LonelyRouteFailure,
});

/** Leads to the organisation that was open last. */
const start = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: ({ context: { me } }) => {
    const last = me.organizations.find(({ slug }) => slug === readStored("organisation"));
    throw redirect({ to: "/o/$org", params: { org: (last ?? me.organization).slug }, replace: true });
  },
});

const newOrganization = createRoute({
  getParentRoute: () => signedIn,
  path: "organizations/new",
  component: lazyPage(
    () => import("../pages/organizations/new-organization-page.tsx"),
    "NewOrganizationPage",
  ),
});

/** Pages without a session. */
export const sessionRoutes = [signIn, callback] as const;

/** Pages of the user, of no organisation. */
export const ownRoutes = [start, newOrganization] as const;
