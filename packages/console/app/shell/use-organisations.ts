import { useDebouncedValue } from "@mantine/hooks";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { q, useFetched } from "../api/queries.ts";
import type { Organisation } from "../api/scope.tsx";

/** As many as come with the user (`getMe`), and as one answer has at most. */
export const MOST_ORGANISATIONS = MAX_PAGE_SIZE;
/** Who types on is not searched for yet. */
const PAUSE_MS = 250;

/** Organisations with a text in their name. */
interface FoundOrganisations {
  readonly shown: readonly Organisation[];
  /** What is shown may not be all. */
  readonly isSearching: boolean;
}

/** Of the user's organisations, of which `all` has the first hundred: who is a member of more is answered by the platform. */
export function useOrganisations(all: readonly Organisation[], sought: string): FoundOrganisations {
  const text = sought.trim();
  const [settled] = useDebouncedValue(text, PAUSE_MS);
  const hasMore = all.length >= MOST_ORGANISATIONS;
  const query = { q: settled, limit: MOST_ORGANISATIONS };
  const { data, error } = useFetched(q("listOrganizations", { query }), {
    isActive: hasMore && settled !== "",
  });
  const known = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  if (!hasMore || text === "") return { shown: known, isSearching: false };
  if (settled === text && data !== undefined) return { shown: data.items, isSearching: false };
  return { shown: known, isSearching: error === null };
}
