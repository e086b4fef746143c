import { DEFAULT_PAGE_SIZE } from "@platform/contract/service-api";
import { Problem } from "@platform/contract/problems";
import type { PageRequest } from "../store/base/page.ts";

interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** The schema of the query has bounded `limit`. */
export function readPage({ limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): PageRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}

const OFFSET = /^\d{1,9}$/;

/** For short lists that are counted through: the cursor is an offset. @throws Problem INVALID_INPUT */
export function readOffsetPage(query: PageQuery): { readonly limit: number; readonly offset: number } {
  const { limit, cursor } = readPage(query);
  if (cursor === undefined) return { limit, offset: 0 };
  if (!OFFSET.test(cursor))
    throw new Problem("INVALID_INPUT", "The cursor is not one that this list has given out.");
  return { limit, offset: Number(cursor) };
}

/** Cuts a page from items that were asked for with `limit + 1`. */
export function cutOffsetPage<Item, Shown>(
  items: readonly Item[],
  page: { readonly limit: number; readonly offset: number },
  show: (item: Item) => Shown,
): { items: Shown[]; nextCursor: string | null } {
  const isMore = items.length > page.limit;
  return {
    items: items.slice(0, page.limit).map(show),
    nextCursor: isMore ? String(page.offset + page.limit) : null,
  };
}
