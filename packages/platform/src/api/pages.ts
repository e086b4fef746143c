import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "@platform/contract/service-api";
import { Problem } from "@platform/contract/problems";
import type { PageRequest } from "../store/base/page.ts";

interface PageQueryText {
  readonly limit?: string;
  readonly cursor?: string;
}

/** @throws Problem INVALID_INPUT for a limit out of bounds */
export function readPage(query: PageQueryText): PageRequest {
  const limit = query.limit === undefined ? DEFAULT_PAGE_SIZE : Number(query.limit);
  if (limit < 1 || limit > MAX_PAGE_SIZE) {
    throw new Problem("INVALID_INPUT", `limit must be between 1 and ${MAX_PAGE_SIZE}.`, {
      errors: [{ path: "/limit", message: `must be between 1 and ${MAX_PAGE_SIZE}` }],
    });
  }
  return query.cursor === undefined ? { limit } : { limit, cursor: query.cursor };
}

const OFFSET = /^\d{1,9}$/;

/** For short lists that are counted through: the cursor is an offset. @throws Problem INVALID_INPUT */
export function readOffsetPage(query: PageQueryText): { readonly limit: number; readonly offset: number } {
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
