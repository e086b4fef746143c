import type { Page, PageRequest } from "@platform/engine/store/execution-store";
import { refuseCursor } from "@platform/engine/store/refuse-cursor";

export type { Page, PageRequest } from "@platform/engine/store/execution-store";

/** A page of those whose names contain a text; absent: of all. */
export interface NameSearch extends PageRequest {
  readonly text?: string | undefined;
}

/** Makes a page of items that were queried with `limit + 1`: the additional one shows that there are more. */
export function cutPage<Item>(
  items: readonly Item[],
  limit: number,
  getKeys: (item: Item) => readonly string[],
): Page<Item> {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const isMore = items.length > limit && last !== undefined;
  return { items: shown, nextCursor: isMore ? encodeCursor(getKeys(last)) : null };
}

/** An opaque cursor that holds the sort keys of the last item. */
export function encodeCursor(keys: readonly string[]): string {
  return Buffer.from(JSON.stringify(keys)).toString("base64url");
}

/** The keys in a cursor; null without one. `checks` has one test for each key. @throws Problem INVALID_INPUT */
export function decodeCursor(
  cursor: string | undefined,
  checks: readonly ((key: string) => boolean)[],
): readonly string[] | null {
  if (cursor === undefined) return null;
  const keys = parseKeys(cursor);
  const isGiven = (key: string, index: number) => !key.includes("\0") && checks[index]?.(key) === true;
  if (keys.length === checks.length && keys.every(isGiven)) return keys;
  throw refuseCursor();
}

function parseKeys(cursor: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (!Array.isArray(parsed)) return [];
    return parsed.filter((key): key is string => typeof key === "string");
  } catch {
    return [];
  }
}
