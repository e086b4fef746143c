import type { Page } from "@platform/engine/store/execution-store";
import { Problem } from "@platform/contract/problems";

export type { Page } from "@platform/engine/store/execution-store";

/** Which part of a list: `limit` items after the one that `cursor` (the last page's `nextCursor`) names. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Cuts a page from rows that were asked for with `limit + 1`. */
export function cutPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  getKeys: (row: Row) => readonly string[],
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isMore = rows.length > limit && last !== undefined;
  return { items: shown.map(toItem), nextCursor: isMore ? encodeCursor(getKeys(last)) : null };
}

export function encodeCursor(keys: readonly string[]): string {
  return Buffer.from(JSON.stringify(keys)).toString("base64url");
}

/** The keys in a cursor, or null without one. Throws Problem INVALID_INPUT for what no list has given out. */
export function decodeCursor(
  cursor: string | undefined,
  checks: readonly ((key: string) => boolean)[],
): readonly string[] | null {
  if (cursor === undefined) return null;
  const keys = parseKeys(cursor);
  const isGiven = (key: string, index: number) => !key.includes("\0") && checks[index]?.(key) === true;
  if (keys.length === checks.length && keys.every(isGiven)) return keys;
  throw new Problem("INVALID_INPUT", "The cursor is not one that this list has given out.");
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
