import { createRoute, redirect } from "@tanstack/react-router";
import type { QueryClient } from "@tanstack/react-query";
import { readInvitationLink } from "../api/invitation-link.ts";
import { load, q } from "../api/queries.ts";
import { createScope } from "../api/scope.tsx";
import { findMe } from "../api/session.ts";
import { LonelyRouteFailure } from "../shell/failures.tsx";
import { toOwnPath } from "../util/own-path.ts";
import { address, search } from "../util/url-state.ts";
import { lazyPage } from "./lazy-page.ts";
import { root, signedIn } from "./root.ts";

/*
 * Pages of links that were sent to somebody. The token of a link is in its path: it is the key of no read, what was matched is forgotten
 * with the page (`gcTime`), and the next page takes its place in the history.
 */
const FORGOTTEN = { gcTime: 0, errorComponent: LonelyRouteFailure } as const;

const signUpSearch = search({ next: address() });

function loadConfiguration(queries: QueryClient): Promise<void> {
  return load(createScope(queries), q("getConfiguration", {}));
}

const signUp = createRoute({
  getParentRoute: () => root,
  path: "sign-up",
  validateSearch: signUpSearch,
  beforeLoad: async ({ context: { queries }, search: { next } }) => {
    if ((await findMe(queries)) !== null) throw redirect({ href: toOwnPath(next) });
  },
  loader: ({ context: { queries } }) => loadConfiguration(queries),
  component: lazyPage(() => import("../pages/sign-up/sign-up-page.tsx"), "SignUpPage"),
  errorComponent: LonelyRouteFailure,
});

const invitation = createRoute({
  ...FORGOTTEN,
  getParentRoute: () => root,
  path: "invitations/$token",
  loader: async ({ context: { queries }, params: { token } }) => {
    const [link, me] = await Promise.all([
      readInvitationLink(createScope(queries), token),
      findMe(queries),
      loadConfiguration(queries),
    ]);
    return { link, me };
  },
  component: lazyPage(() => import("../pages/invitations/invitation-page.tsx"), "InvitationPage"),
});

const requestReset = createRoute({
  getParentRoute: () => root,
  path: "reset-password",
  loader: ({ context: { queries } }) => loadConfiguration(queries),
  component: lazyPage(() => import("../pages/reset-password/request-page.tsx"), "RequestPage"),
  errorComponent: LonelyRouteFailure,
});

const resetPassword = createRoute({
  ...FORGOTTEN,
  getParentRoute: () => root,
  path: "reset-password/$token",
  loader: ({ context: { queries } }) => loadConfiguration(queries),
  component: lazyPage(() => import("../pages/reset-password/reset-password-page.tsx"), "ResetPasswordPage"),
});

const verifyEmail = createRoute({
  gcTime: 0,
  getParentRoute: () => signedIn,
  path: "verify-email/$token",
  component: lazyPage(() => import("../pages/verify-email/verify-email-page.tsx"), "VerifyEmailPage"),
});

/** Signing up, and links that need no session. */
export const linkRoutes = [signUp, invitation, requestReset, resetPassword] as const;

/** Links that need the user's session. */
export const ownLinkRoutes = [verifyEmail] as const;
