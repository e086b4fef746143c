import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, notFound, redirect } from "@tanstack/react-router";
import type { OperationId } from "../api/client.ts";
import { load } from "../api/queries.ts";
import type { Pages, Query } from "../api/queries.ts";
import { createScope } from "../api/scope.tsx";
import type { Scope } from "../api/scope.tsx";
import { findMe, findOrganisation } from "../api/session.ts";
import { LonelyNotFoundPage, LonelyRouteFailure } from "../shell/failures.tsx";
import { OrganisationRoot, Root } from "../shell/root.tsx";
import { Shell } from "../shell/shell.tsx";
import { store } from "../util/storage.ts";

/** For loaders: `load(q("getApplication", { params }))`. */
function createLoad(scope: Scope) {
  return <K extends OperationId>(query: Query<K> | Pages<K>, most?: number) => load(scope, query, most);
}

/** Above everything. */
export const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: Root,
  notFoundComponent: LonelyNotFoundPage,
  errorComponent: LonelyRouteFailure,
});

/** Above all pages that need a session; others lead to the sign-in page and back. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: "in",
  beforeLoad: async ({ context: { queries }, location }) => {
    const me = await findMe(queries);
    if (me === null)
      throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { next: location.href } });
    const scope = createScope(queries, me);
    return { me, scope, load: createLoad(scope) };
  },
  component: Shell,
  errorComponent: LonelyRouteFailure,
});

/** Above all pages of an organisation: its slug is in their paths. */
export const organisation = createRoute({
  getParentRoute: () => signedIn,
  path: "o/$org",
  beforeLoad: async ({ context, params, location }) => {
    const found = await findOrganisation(context.scope, params.org);
    if (found === null) throw notFound();
    if (found.slug !== params.org)
      throw redirect({ href: location.href.replace(params.org, found.slug), replace: true });
    store("organisation", found.slug);
    const scope = createScope(context.queries, context.me, found);
    return { scope, load: createLoad(scope) };
  },
  component: OrganisationRoot,
});
