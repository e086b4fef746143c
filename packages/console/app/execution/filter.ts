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
  code: text(),
  after: time(),
  before: time(),
  min: whole(999_999_999),
  q: text(),
  cancel: oneOf("all"),
});

/** What the URL says. */
export type ExecutionsSearch = ReturnType<typeof executionsSearch>;

/** The filter as the platform takes it. */
export type ExecutionFilter = Omit<NonNullable<RequestOf<"listExecutions">["query"]>, "limit" | "cursor">;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;
const VERSION = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/u;
/** The most characters of a code or a text that is searched for. */
const MAX_WORD = 100;

/** What the platform would refuse is left out: a broken link shows more, and no error. */
export function toFilter(given: ExecutionsSearch): ExecutionFilter {
  const filter = {
    kind: given.kind,
    status: given.status && [...given.status],
    serviceKey: keepIf(UUID, given.service),
    version: keepIf(VERSION, given.version),
    applicationId: keepIf(UUID, given.application),
    code: given.code?.slice(0, MAX_WORD),
    createdAfter: given.after,
    createdBefore: given.before,
    minRanMs: given.min === 0 ? undefined : given.min,
    q: given.q?.slice(0, MAX_WORD),
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
