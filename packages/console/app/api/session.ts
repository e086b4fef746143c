import type { QueryClient } from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { hasUnsavedInput } from "../ui/unsaved.ts";
import { isUnauthenticated } from "./explain-error.ts";
import { q, toQueryOptions } from "./queries.ts";
import { createScope } from "./scope.tsx";
import type { Me, Organisation, Scope } from "./scope.tsx";

/** Routes ask for the user again after this long; pages that stay open do (shell/session-bar.tsx). */
const FRESH_MS = 60_000;

/** The user of the browser's session; null: there is none. What was read by another user is forgotten. */
export async function findMe(queries: QueryClient): Promise<Me | null> {
  const options = toQueryOptions(createScope(queries), q("getMe", {}));
  const before = queries.getQueryData<Me>(options.queryKey);
  // A page stays whose it is as long as something is entered in it: it must not be sent in the name of another user.
  if (before !== undefined && hasUnsavedInput()) return before;
  try {
    const me = await queries.fetchQuery({ ...options, staleTime: FRESH_MS });
    if (before !== undefined && before.id !== me.id) {
      queries.clear();
      queries.setQueryData(options.queryKey, me);
    }
    return me;
  } catch (error) {
    if (isUnauthenticated(error)) return null;
    throw error;
  }
}

/** Whether the user's organisations and roles are others than the console believes; what it believes is right then. Never rejects. */
export async function hasUserChanged(queries: QueryClient): Promise<boolean> {
  const { queryKey } = toQueryOptions(createScope(queries), q("getMe", {}));
  const before = JSON.stringify(queries.getQueryData(queryKey));
  if (before === undefined) return false;
  await queries.invalidateQueries({ queryKey, refetchType: "none" });
  const after = await findMe(queries).catch(() => null);
  return after !== null && JSON.stringify(after) !== before;
}

/** The organisation of a slug; null: there is none, or the user is not a member. */
export async function findOrganisation(scope: Scope, slug: string): Promise<Organisation | null> {
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
