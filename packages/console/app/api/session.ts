import type { QueryClient } from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { hasUnsavedInput } from "../ui/unsaved.ts";
import { isUnauthenticated } from "./explain-error.ts";
import { q, toQueryOptions } from "./queries.ts";
import { createScope } from "./scope.tsx";
import type { Me, Organisation, Scope } from "./scope.tsx";

/** Routes ask for the user again after this long; pages that stay open do (shell/session-bar.tsx). */
const FRESH_MS = 60_000;

/** Whose page is shown. Not what is known of the session's user, who may be another one by now. */
const SHOWN = ["shownUser"] as const;

/** The user of the browser's session; null: there is none. What was read by another user is forgotten. */
export async function findMe(queries: QueryClient): Promise<Me | null> {
  const options = toQueryOptions(createScope(queries), q("getMe", {}));
  const shown = queries.getQueryData<Me>(SHOWN);
  // A page stays whose it is as long as something is entered in it: it must not be sent in the name of another user.
  if (shown !== undefined && hasUnsavedInput()) {
    const known = queries.getQueryData<Me>(options.queryKey);
    return known?.id === shown.id ? known : shown;
  }
  try {
    const me = await queries.fetchQuery({ ...options, staleTime: FRESH_MS });
    if (shown !== undefined && shown.id !== me.id) {
      queries.clear();
      queries.setQueryData(options.queryKey, me);
    }
    queries.setQueryDefaults(SHOWN, { gcTime: Infinity });
    queries.setQueryData(SHOWN, me);
    return me;
  } catch (error) {
    if (isUnauthenticated(error)) return null;
    throw error;
  }
}

/** Whether the user's organisations and roles are others than those that the pages were given; `findMe` knows them then. Never rejects. */
export async function hasUserChanged(queries: QueryClient, given: Me): Promise<boolean> {
  const options = toQueryOptions(createScope(queries), q("getMe", {}));
  const known = await queries.fetchQuery({ ...options, staleTime: 0 }).catch(() => given);
  return JSON.stringify(known) !== JSON.stringify(given);
}

/** Identifiers of organisations by the slugs at which they were opened. */
const opened = new Map<string, string>();

/**
 * The organisation of a slug, or the one that was opened at it before it got another one; null: there is none, or the user is not a
 * member.
 */
export async function findOrganisation(scope: Scope, slug: string): Promise<Organisation | null> {
  const found = (await findBySlug(scope, slug)) ?? findById(scope, opened.get(slug));
  if (found !== null) opened.set(slug, found.id);
  return found;
}

function findById({ me }: Scope, id: string | undefined): Organisation | null {
  return me?.organizations.find((organisation) => organisation.id === id) ?? null;
}

async function findBySlug(scope: Scope, slug: string): Promise<Organisation | null> {
  const known = scope.me?.organizations ?? [];
  const found = known.find((organisation) => organisation.slug === slug);
  if (found !== undefined) return found;
  // `getMe` has the first page.
  let cursor: string | null = known.length < MAX_PAGE_SIZE ? null : "";
  while (cursor !== null) {
    const query = { limit: MAX_PAGE_SIZE, ...(cursor === "" ? {} : { cursor }) };
    const page = await scope.queries.fetchQuery(toQueryOptions(scope, q("listOrganizations", { query })));
    const listed = page.items.find((organisation) => organisation.slug === slug);
    if (listed !== undefined) return listed;
    cursor = page.nextCursor;
  }
  return null;
}
