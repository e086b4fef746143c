import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { isForbidden, isUnauthenticated } from "./api/explain-error.ts";
import { hasUserChanged } from "./api/session.ts";
import { routeTree } from "./routes.ts";
import { NotFoundPage, RouteFailure } from "./shell/failures.tsx";
import { parseSearch, stringifySearch } from "./util/url-state.ts";

/** Younger reads are not asked for again, but by a change. */
const FRESH_MS = 5_000;
/** The old page stays for so long before a bar says that the next one is loading. */
const PENDING_MS = 200;

/** What refusals mean for what the console knows of the user. */
interface Refusals {
  /** The session has ended. */
  readonly onSignedOut: () => void;
  /** What the console has shown is not allowed: a role has changed, or the organisation is gone. */
  readonly onForbidden: () => void;
}

/** The cache of all reads. A read that finds no session ends the session here as well. */
function createQueries({ onSignedOut, onForbidden }: Refusals): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        // Whether somebody is signed in is asked by the routes, which know where to send the user.
        if (isUnauthenticated(error) && queryKey[0] !== "getMe") onSignedOut();
        if (isForbidden(error)) onForbidden();
      },
    }),
    mutationCache: new MutationCache({
      onError: (error) => {
        if (isForbidden(error)) onForbidden();
      },
    }),
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: false, refetchIntervalInBackground: false },
    },
  });
}

/** The router and the cache of the console; one of each. */
export function createConsole() {
  const queries = createQueries({
    onSignedOut: () => {
      queries.clear();
      // Routes ask for the session again, and lead to the sign-in page.
      void router.invalidate();
    },
    onForbidden: () => {
      void hasUserChanged(queries).then((hasChanged) => (hasChanged ? router.invalidate() : undefined));
    },
  });
  const router = createRouter({
    routeTree,
    context: { queries },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    defaultPendingMs: PENDING_MS,
    defaultPendingMinMs: 0,
    defaultErrorComponent: RouteFailure,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
  });
  router.subscribe("onBeforeNavigate", ({ fromLocation, pathChanged }) => {
    // From the second page on, headings take the focus (ui/page-header.tsx).
    if (fromLocation !== undefined && pathChanged) document.documentElement.dataset["navigated"] = "true";
  });
  return { router, queries };
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsole>["router"];
  }
}
