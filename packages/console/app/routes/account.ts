import { createRoute } from "@tanstack/react-router";
import { pages } from "../api/queries.ts";
import { oneOf, search } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { signedIn } from "./root.ts";

const profileSearch = search({ edit: oneOf("name", "password") });
const tokensSearch = search({ new: oneOf("token") });

const profile = createRoute({
  getParentRoute: () => signedIn,
  path: "account",
  validateSearch: profileSearch,
  component: lazyPage(() => import("../pages/account/profile-page.tsx"), "ProfilePage"),
});

const tokens = createRoute({
  getParentRoute: () => signedIn,
  path: "account/tokens",
  validateSearch: tokensSearch,
  loader: ({ context: { load } }) => load(pages("listPersonalAccessTokens", {})),
  component: lazyPage(() => import("../pages/account/tokens-page.tsx"), "TokensPage"),
});

const sessions = createRoute({
  getParentRoute: () => signedIn,
  path: "account/sessions",
  loader: ({ context: { load } }) => load(pages("listSessions", {})),
  component: lazyPage(() => import("../pages/account/sessions-page.tsx"), "SessionsPage"),
});

/** What is the user's own. */
export const accountRoutes = [profile, tokens, sessions] as const;
