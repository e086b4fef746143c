import type { FastifyRequest } from "fastify";
import { formatTimestamp, isExecutionStatus } from "@platform/contract/execution";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { DEFAULT_PAGE_SIZE } from "@platform/contract/service-api";
import { refuseCursor } from "../store/refuse-cursor.ts";
import type { ListFilter, PageRequest } from "../store/execution-store.ts";
import { DIGITS, readParameter, refuseParameter } from "./query.ts";

interface OffsetPage {
  readonly limit: number;
  readonly offset: number;
}

/** Adds the default limit to a validated query. */
export function readPage({ limit = DEFAULT_PAGE_SIZE, cursor }: Partial<PageRequest>): PageRequest {
  return { limit, cursor };
}

/** For short lists: the cursor is an offset. @throws Problem INVALID_INPUT */
export function readOffsetPage(query: Partial<PageRequest>): OffsetPage {
  const { limit, cursor } = readPage(query);
  if (cursor === undefined) return { limit, offset: 0 };
  if (!DIGITS.test(cursor)) throw refuseCursor();
  return { limit, offset: Number(cursor) };
}

/** Makes a page of items that were queried with `limit + 1`: the additional item shows that another page follows. */
export function cutOffsetPage<Item, Body>(
  items: readonly Item[],
  page: OffsetPage,
  toBody: (item: Item) => Body,
): { items: Body[]; nextCursor: string | null } {
  const isMore = items.length > page.limit;
  return {
    items: items.slice(0, page.limit).map(toBody),
    nextCursor: isMore ? String(page.offset + page.limit) : null,
  };
}

/** Sets the Link header (RFC 8288) of a page that is followed by another one. */
export function linkNext(
  request: FastifyRequest,
  path: string,
  cursor: string | null,
): Readonly<Record<string, string>> {
  if (cursor === null) return {};
  const query = new URLSearchParams(request.query as Record<string, string>);
  query.set("cursor", cursor);
  return { link: `<${path}?${query.toString()}>; rel="next"` };
}

/** Page and filter of a list of executions, from a query string that was not validated by a schema. @throws Problem INVALID_INPUT */
export function parseListFilter(query: unknown): ListFilter {
  const status = readParameter(query, "status");
  if (status !== undefined && !isExecutionStatus(status))
    throw refuseParameter("status", "is none of the five states");
  const limit = parseLimit(readParameter(query, "limit"));
  const cursor = readParameter(query, "cursor");
  const after = readTime("createdAfter", readParameter(query, "createdAfter"));
  const before = readTime("createdBefore", readParameter(query, "createdBefore"));
  return {
    limit,
    cursor,
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { createdAfter: after }),
    ...(before === undefined ? {} : { createdBefore: before }),
  };
}

/** The same of a short list, which has at most `most` items: its cursors are offsets. @throws Problem INVALID_INPUT */
export function parsePage(query: unknown, most: number): OffsetPage {
  const limit = parseLimit(readParameter(query, "limit"));
  const cursor = readParameter(query, "cursor");
  if (cursor === undefined) return { limit, offset: 0 };
  if (!DIGITS.test(cursor) || Number(cursor) >= most) throw refuseCursor();
  return { limit, offset: Number(cursor) };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PAGE_SIZE;
  const limit = DIGITS.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_PAGE_SIZE) return limit;
  throw refuseParameter("limit", `must be a whole number from 1 to ${MAX_PAGE_SIZE}`);
}

/** Milliseconds since the epoch of a parameter's text. @throws Problem INVALID_INPUT */
export function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(text)
    ? Date.parse(`${text.replace(" ", "T")}Z`)
    : Number.NaN;
  if (Number.isNaN(time)) throw refuseParameter(name, "must have the form YYYY-MM-DD HH:MM:SS (UTC)");
  // The 30th of February is read as one of March, and 24:00:00 as midnight of the next day.
  if (formatTimestamp(time) !== text) throw refuseParameter(name, "is no time that there is");
  return time;
}
