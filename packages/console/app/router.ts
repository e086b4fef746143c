import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import type { Mutation } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { isForbidden, isNotFound, isUnauthenticated } from "./api/explain-error.ts";
import type { Me } from "./api/scope.tsx";
import { hasUserChanged } from "./api/session.ts";
import { routeTree } from "./routes.ts";
import { NotFoundPage, RouteFailure } from "./shell/failures.tsx";
import { hasUnsavedInput } from "./ui/unsaved.ts";
import { parseSearch, stringifySearch } from "./util/url-state.ts";

/** Younger reads are not asked for again, but by a change. */
const FRESH_MS = 5_000;
/** The old page stays for so long before a bar says that the next one is loading. */
const PENDING_MS = 200;

/** What refusals mean for what the console knows of the user. */
interface Refusals {
  /** The session has ended, or is another user's by now, as this operation was told. */
  readonly onSignedOut: (op: unknown) => void;
  /** What the console has shown is not allowed: a role has changed, or the organisation is gone. */
  readonly onForbidden: () => void;
  /** Whether the user is on their way to another page: who removes something is led on from its own. */
  readonly isLeaving: () => boolean;
}

/** The cache of all reads. A read that finds no session ends the session here as well. */
function createQueries({ onSignedOut, onForbidden, isLeaving }: Refusals): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        const [op] = query.queryKey;
        // Whether somebody is signed in is asked by the routes, which know where to send the user, and by pages as long as they are shown.
        if (isUnauthenticated(error) && (op !== "getMe" || query.getObserversCount() > 0)) onSignedOut(op);
        // Of what is gone, a page would keep what it was.
        if (isNotFound(error) && !isLeaving()) query.setState({ data: undefined });
        if (isForbidden(error)) onForbidden();
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _sent, _context, { options: { mutationKey: [op] = [] } }) => {
        if (isUnauthenticated(error) && op !== "signOut") onSignedOut(op);
        if (isForbidden(error)) onForbidden();
      },
    }),
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: false, refetchIntervalInBackground: false },
      // Without a network, TanStack Query would keep a change until there is one: it would be sent when the user has long given it up.
      mutations: { networkMode: "always" },
    },
  });
}

function isRemoval({ options: { mutationKey } }: Mutation): boolean {
  return String(mutationKey?.[0]).startsWith("delete");
}

/** The router and the cache of the console; one of each. */
export function createConsole() {
  let isSignedOut = false;
  const queries = createQueries({
    onSignedOut: (op) => {
      // What is entered stays, and its page says why it cannot be saved (shell/session-bar.tsx).
      if (hasUnsavedInput()) {
        if (op !== "getMe") void queries.invalidateQueries({ queryKey: ["getMe"] });
        return;
      }
      // What is asked for on the way out finds no session either.
      if (isSignedOut) return;
      isSignedOut = true;
      queries.clear();
      // Routes ask for the session again, and lead to the sign-in page.
      void router.invalidate().finally(() => (isSignedOut = false));
    },
    onForbidden: () => {
      const { me } = (router.state.matches.at(-1)?.context ?? {}) as { readonly me?: Me };
      if (me === undefined) return;
      void hasUserChanged(queries, me).then((hasChanged) => (hasChanged ? router.invalidate() : undefined));
    },
    isLeaving: () => queries.isMutating({ predicate: isRemoval }) > 0 || router.state.status === "pending",
  });
  const router = createRouter({
    routeTree,
    context: { queries },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    defaultPendingMs: PENDING_MS,
    defaultPendingMinMs: 0,
    // A page of another thing is another page: nothing that was entered for one is sent for the other.
    defaultRemountDeps: ({ params }) => params,
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
