import { LAST_PAGE, SEARCH_LIMITS } from "@platform/contract/search-limits";
import type { RequestOf } from "../api/client.ts";
import { toCommandLine } from "../util/command-line.ts";
import { exact, oneOf, search, text, time, whole } from "../util/url-state.ts";

/** Jobs of a page of the list. */
const PAGE_SIZE = 25;

/** The filter of quantum jobs as it stands in the URL; `page` from 1. */
export const quantumJobsSearch = search({
  backend: text(SEARCH_LIMITS.backend),
  status: oneOf("PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "ABORTED"),
  tag: exact(SEARCH_LIMITS.quantumJobTag),
  name: text(SEARCH_LIMITS.quantumJob),
  after: time(),
  before: time(),
  page: whole(LAST_PAGE),
});

/** What the URL says. */
export type QuantumJobsSearch = ReturnType<typeof quantumJobsSearch>;

/** The filter as the platform takes it. */
type QuantumJobsQuery = NonNullable<RequestOf<"listQuantumJobs">["query"]>;

/** As the platform takes it. */
export function toQuery({ page = 1, ...given }: QuantumJobsSearch): QuantumJobsQuery {
  const query = {
    page: Math.max(0, page - 1),
    size: PAGE_SIZE,
    backendId: given.backend,
    status: given.status,
    tag: given.tag === undefined ? undefined : [given.tag],
    name: given.name,
    createdAfter: given.after,
    createdBefore: given.before,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/** The command that lists the same, for a POSIX shell. */
export function toCommand(query: QuantumJobsQuery): string {
  const { page = 0, size, backendId, status, tag, name, createdAfter, createdBefore } = query;
  return toCommandLine("platform quantum jobs", {
    backend: backendId,
    status,
    tag,
    name,
    after: createdAfter,
    before: createdBefore,
    limit: size,
    page: page === 0 ? undefined : page,
  });
}

/** Which page of the list of sessions is wanted, from 1, and whether one is to be opened. */
export const sessionsSearch = search({ new: oneOf("session"), page: whole(LAST_PAGE) });

/** Which page of the jobs of a session is wanted, from 1. */
export const sessionSearch = search({ page: whole(LAST_PAGE) });

/** The list of sessions as the platform takes it. */
export function toSessionsQuery({ page = 1 }: ReturnType<typeof sessionsSearch>) {
  return { type: "SESSION", page: Math.max(0, page - 1), size: PAGE_SIZE } as const;
}

/** The parameters that filter, all taken out. */
export const NO_FILTER = {
  backend: undefined,
  status: undefined,
  tag: undefined,
  name: undefined,
  after: undefined,
  before: undefined,
  page: undefined,
} as const satisfies Readonly<Record<keyof QuantumJobsSearch, undefined>>;

/** Whether anything is filtered. */
export function isFiltered({ page: _page, ...given }: QuantumJobsSearch): boolean {
  return Object.values(given).some((value) => value !== undefined);
}
