import type { QueryClient } from "@tanstack/react-query";
import { isUnauthenticated } from "./explain-error.ts";
import { q, toQueryOptions } from "./queries.ts";
import { createScope } from "./scope.tsx";
import type { Me, Organisation, Scope } from "./scope.tsx";

/** The user is asked for again after this long; a refused request ends the session at once. */
const FRESH_MS = 60_000;

/** The user of the browser's session; null: there is none. */
export async function findMe(queries: QueryClient): Promise<Me | null> {
  try {
    return await queries.fetchQuery({
      ...toQueryOptions(createScope(queries), q("getMe", {})),
      staleTime: FRESH_MS,
    });
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
  // `getMe` has the first hundred.
  let cursor: string | null = known.length < 100 ? null : "";
  while (cursor !== null) {
    const query: { limit: number; cursor?: string } = { limit: 100, ...(cursor === "" ? {} : { cursor }) };
    const page = await scope.queries.fetchQuery(toQueryOptions(scope, q("listOrganizations", { query })));
    const listed = page.items.find((organisation) => organisation.slug === slug);
    if (listed !== undefined) return listed;
    cursor = page.nextCursor;
  }
  return null;
}
