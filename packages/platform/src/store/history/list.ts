import type { ExecutionStatus } from "@platform/contract/execution";
import type { ExecutionKind } from "@platform/contract/platform-api/executions";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { decodeCursor, encodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { KIND, NAMES } from "./scope.ts";
import type { Asker, HistoryFilter } from "./scope.ts";
import { SEEN, STEP_COLUMNS, walk } from "./walk.ts";
import type { StepRow } from "./walk.ts";

/** An execution as lists show it; times in milliseconds since the epoch. */
export interface HistoryEntry {
  readonly id: string;
  readonly kind: ExecutionKind;
  readonly status: ExecutionStatus;
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly version: string;
  /** Null, like the next: a job. */
  readonly subscriptionId: string | null;
  readonly applicationId: string | null;
  /** Null also where the asker may not know it, as the next. */
  readonly applicationName: string | null;
  /** Of the application; null also where it is the asker's own. */
  readonly organisationName: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly code: string | null;
}

/** A page, and whether the search for more has ended rather than been given up. */
export interface HistoryPage extends Page<HistoryEntry> {
  readonly isComplete: boolean;
}

/** What one list looks at: see the description of the operation. */
const LIST_LIMITS = { mostRows: 20_000, stepRows: 5_000 } as const;

/** SQL: names of others' applications only for those who may know them; `shown`: a parameter. */
const isShown = (shown: string) => `(${shown}::boolean or a.organisation_id = $1::uuid)`;

/** SQL: the columns of a HistoryEntry, of `e` with NAMES. `shown`: the parameter that says whether subscribers are shown. */
export const selectEntry = (
  shown: string,
): string => `e.id, ${KIND} as kind, e.status, s.key as "serviceKey", s.name as "serviceName",
    concat_ws('.', v.major, v.minor, v.patch) as version, b.id as "subscriptionId", a.id as "applicationId",
    case when ${isShown(shown)} then a.name end as "applicationName",
    case when ${shown}::boolean and a.organisation_id <> $1::uuid then o.name end as "organisationName",
    ${selectMilliseconds("e.created_at")} as "createdAt", ${selectMilliseconds("e.started_at")} as "startedAt",
    ${selectMilliseconds("e.ended_at")} as "endedAt", e.failure_code as code`;

/** SQL: how long `e` has run, in milliseconds. */
const RAN_MS = "extract(epoch from coalesce(e.ended_at, now()) - e.started_at) * 1000";

/** SQL: what ids decide only roughly, of `e`. Parameters $9 and $10. */
const IS_IN_TIME =
  "e.created_at >= to_timestamp($9::float8 / 1000) and e.created_at < to_timestamp($10::float8 / 1000)";

/** SQL: what no index decides, of `e` with NAMES. Parameters $9 to $15 are `toMatchValues`. */
const IS_MATCH = `${IS_IN_TIME}
    and ($3::uuid is null or s.key = $3)
    and ($11::text is null or concat_ws('.', v.major, v.minor, v.patch) = $11)
    and ($12::text is null or e.failure_code = $12)
    and ($13::float8 is null or ${RAN_MS} >= $13)
    and ($14::text is null or starts_with(e.id::text, $14) or strpos(lower(s.name), $14) > 0 or strpos(lower(e.failure_code), $14) > 0
      or (${isShown("$15")} and strpos(lower(a.name), $14) > 0))`;

/** The rows of a step that match, and what they are asked with. */
export interface Matching {
  /** Whether there is a filter that no index serves: then each row is looked at with all that is joined to it. */
  readonly isSearch: boolean;
  /** SQL, after "from": the rows `e`. */
  readonly rows: string;
  /** Values from $9 on. */
  readonly values: readonly unknown[];
}

/** How rows of SEEN are compared with the filter: without joins where time alone decides. */
export function describeMatching({ areSubscribersShown }: Asker, filter: HistoryFilter): Matching {
  const { createdAfter = -Infinity, createdBefore = Infinity, serviceKey } = filter;
  const { version = null, code = null, minRanMs = null, q } = filter;
  const search = [version, code, minRanMs, q?.toLowerCase() ?? null];
  const isSearch = serviceKey !== undefined || search.some((value) => value !== null);
  const times = [createdAfter, createdBefore];
  if (!isSearch) return { isSearch, rows: `inside e where ${IS_IN_TIME}`, values: times };
  return {
    isSearch,
    rows: `inside e ${NAMES} where ${IS_MATCH}`,
    values: [...times, ...search, areSubscribersShown],
  };
}

/** Joined once the rows of the page are known. `shown` and `limit`: parameters. */
const describeList = (rows: string, shown: string, limit: string) => `with ${SEEN}
  select ${STEP_COLUMNS}, m.* from (select 1) one left join lateral (
    select ${selectEntry(shown)} from (select e.* from ${rows} order by e.id desc limit ${limit}) e ${NAMES}
  ) m on true order by m.id desc`;

type Row = StepRow & (HistoryEntry | { readonly id: null });

/** A page of what concerns the organisation, newest first. @throws Problem INVALID_INPUT for an invalid cursor */
export async function listHistory(
  database: Pick<Database, "query">,
  asker: Asker,
  { limit, cursor, ...filter }: HistoryFilter & PageRequest,
): Promise<HistoryPage> {
  const [before] = decodeCursor(cursor, [isUuid]) ?? [];
  const found: HistoryEntry[] = [];
  const minDepth = limit + 1;
  const { isSearch, rows: matching, values: match } = describeMatching(asker, filter);
  const stepRows = isSearch ? LIST_LIMITS.stepRows : minDepth;
  const { goOn } = await walk({
    database,
    asker,
    filter,
    before,
    limits: { mostRows: LIST_LIMITS.mostRows, stepRows, minDepth },
    read: async ({ values }) => {
      const rows = await database.query<Row>({
        name: isSearch ? "history-search" : "history-list",
        text: isSearch ? describeList(matching, "$15", "$16") : describeList(matching, "$11", "$12"),
        values: [
          ...values,
          ...match,
          ...(isSearch ? [] : [asker.areSubscribersShown]),
          limit + 1 - found.length,
        ],
        idempotent: true,
      });
      for (const { looked: _looked, edge: _edge, ...entry } of rows) if (entry.id !== null) found.push(entry);
      const [{ looked, edge } = { looked: 0, edge: null }] = rows;
      return { looked, edge, isEnough: found.length > limit };
    },
  });
  const last = found[limit - 1];
  if (found.length > limit && last !== undefined)
    return { items: found.slice(0, limit), nextCursor: encodeCursor([last.id]), isComplete: true };
  return { items: found, nextCursor: goOn === null ? null : encodeCursor([goOn]), isComplete: goOn === null };
}
