import { isExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "@platform/contract/service-api";
import type { ListFilter } from "../store/execution-store.ts";

/** Page size and cursor of any list. @throws Problem INVALID_INPUT */
export function parsePage(query: {
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}): { readonly limit: number; readonly cursor?: string } {
  const limit = query.limit === undefined ? DEFAULT_PAGE_SIZE : Number(query.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalid("limit", `must be a whole number from 1 to ${MAX_PAGE_SIZE}`);
  return query.cursor === undefined ? { limit } : { limit, cursor: query.cursor };
}

/** The filter of a list of executions from its query string. @throws Problem INVALID_INPUT */
export function parseListFilter(query: unknown): ListFilter {
  const text = (name: string) => readText(query, name);
  const status = text("status");
  if (status !== undefined && !isExecutionStatus(status))
    throw invalid("status", "is none of the five states");
  const after = parseTime("createdAfter", text("createdAfter"));
  const before = parseTime("createdBefore", text("createdBefore"));
  return {
    ...parsePage({ limit: text("limit"), cursor: text("cursor") }),
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { createdAfter: after }),
    ...(before === undefined ? {} : { createdBefore: before }),
  };
}

/** The cursor of a log's page. @throws Problem INVALID_INPUT */
export function parseCursor(query: unknown): string | undefined {
  return readText(query, "cursor");
}

function readText(query: unknown, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  if (value !== undefined && typeof value !== "string") throw invalid(name, "is given more than once");
  return value;
}

function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(value)
    ? Date.parse(`${value.replace(" ", "T")}Z`)
    : Number.NaN;
  if (Number.isNaN(time)) throw invalid(name, "must have the form YYYY-MM-DD HH:MM:SS (UTC)");
  return time;
}

function invalid(name: string, message: string): Problem {
  return new Problem("INVALID_INPUT", `The query parameter "${name}" ${message}.`, {
    errors: [{ path: `/${name}`, message }],
  });
}
