import { MOST_RAN_MS, SEARCH_LIMITS } from "@platform/contract/search-limits";
import type { RequestOf } from "../api/client.ts";
import { toCommandLine } from "../util/command-line.ts";
import { many, oneOf, search, text, time, whole } from "../util/url-state.ts";

/** The filter of executions as it stands in the URL, and what is open on their page. */
export const executionsSearch = search({
  kind: oneOf("job", "outgoing", "incoming"),
  status: many("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"),
  service: text(),
  version: text(),
  application: text(),
  code: text(SEARCH_LIMITS.execution),
  after: time(),
  before: time(),
  min: whole(MOST_RAN_MS),
  q: text(SEARCH_LIMITS.execution),
  cancel: oneOf("all"),
});

/** What the URL says. */
export type ExecutionsSearch = ReturnType<typeof executionsSearch>;

/** The filter as the platform takes it. */
export type ExecutionFilter = Omit<NonNullable<RequestOf<"listExecutions">["query"]>, "limit" | "cursor">;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;
const VERSION = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/u;

/** What the platform would refuse is left out: a broken link shows more, and no error. */
export function toFilter(given: ExecutionsSearch): ExecutionFilter {
  const filter = {
    kind: given.kind,
    status: given.status && [...given.status],
    serviceKey: keepIf(UUID, given.service),
    version: keepIf(VERSION, given.version),
    applicationId: keepIf(UUID, given.application),
    code: given.code,
    createdAfter: given.after,
    createdBefore: given.before,
    minRanMs: given.min === 0 ? undefined : given.min,
    q: given.q,
  };
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as ExecutionFilter;
}

function keepIf(pattern: RegExp, value: string | undefined): string | undefined {
  return value !== undefined && pattern.test(value) ? value : undefined;
}

/** The parameters that filter, all taken out. */
export const NO_FILTER = {
  kind: undefined,
  status: undefined,
  service: undefined,
  version: undefined,
  application: undefined,
  code: undefined,
  after: undefined,
  before: undefined,
  min: undefined,
  q: undefined,
} as const satisfies Partial<Record<keyof ExecutionsSearch, undefined>>;

/** Whether anything is filtered but the kind, which has tabs. */
export function isFiltered(given: ExecutionsSearch): boolean {
  return Object.keys(toFilter(given)).some((name) => name !== "kind");
}

const MILLISECONDS = 1_000;

/** The command that lists the same, for a POSIX shell. */
export function toCommand(filter: ExecutionFilter): string {
  const { minRanMs } = filter;
  return toCommandLine("platform executions ls", {
    kind: filter.kind,
    service: filter.serviceKey,
    version: filter.version,
    application: filter.applicationId,
    code: filter.code,
    after: filter.createdAfter,
    before: filter.createdBefore,
    search: filter.q,
    status: filter.status,
    "min-ran": minRanMs === undefined ? undefined : minRanMs / MILLISECONDS,
  });
}
