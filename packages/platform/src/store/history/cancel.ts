import { MOST_CANCELLED } from "@platform/contract/limits";
import type { Database } from "../../postgres/database.ts";
import { cancelManyOf } from "../executions/cancel-many.ts";
import type { NoteCancelled } from "../executions/cancel-many.ts";
import { describeMatching } from "./list.ts";
import type { Asker, HistoryFilter } from "./scope.ts";
import { SEEN, STEP_COLUMNS, walk } from "./walk.ts";
import type { StepRow } from "./walk.ts";

/** States in which there is something to cancel. */
const UNENDED = ["PENDING", "RUNNING"] as const;

const LIMITS = { mostRows: 100_000, stepRows: 10_000, minDepth: 100 } as const;

/** The executions of the organisation's own that have not ended and match; null: more than one request cancels, or looks at. */
export async function findCancellable(
  database: Pick<Database, "query">,
  asker: Asker,
  filter: HistoryFilter,
): Promise<readonly string[] | null> {
  const { kind, status = UNENDED } = filter;
  const statuses = UNENDED.filter((one) => status.includes(one));
  if (statuses.length === 0) return [];
  const wanted = { ...filter, status: statuses, kinds: kind === undefined ? OWN_KINDS : [kind] };
  const { isSearch, rows: matching, values: match } = describeMatching(asker, wanted);
  const ids: string[] = [];
  const { goOn } = await walk({
    database,
    asker,
    filter: wanted,
    limits: LIMITS,
    read: async ({ values }) => {
      const rows = await database.query<StepRow & { readonly id: string | null }>({
        name: isSearch ? "history-unended-search" : "history-unended",
        text: describeUnended(matching),
        values: [...values, ...match],
        idempotent: true,
      });
      for (const { id } of rows) if (id !== null) ids.push(id);
      const [{ looked, edge } = { looked: 0, edge: null }] = rows;
      return { looked, edge, isEnough: ids.length > MOST_CANCELLED };
    },
  });
  return goOn === null && ids.length <= MOST_CANCELLED ? ids : null;
}

const OWN_KINDS = ["job", "outgoing"] as const;

const describeUnended = (rows: string) => `with ${SEEN}
  select ${STEP_COLUMNS}, m.* from (select 1) one left join lateral (select e.id from ${rows}) m on true`;

/** How many of these are the organisation's own, whether they have ended or not. */
export async function countOwn(
  database: Pick<Database, "query">,
  { organisationId }: Asker,
  ids: readonly string[],
): Promise<number> {
  const [row] = await database.query<{ readonly own: number }>({
    name: "history-count-own",
    text: COUNT_OWN,
    values: [organisationId, ids],
    idempotent: true,
  });
  return row?.own ?? 0;
}

const COUNT_OWN = `select count(distinct id)::int as own from (
    select e.id from execution e where e.id = any ($2::uuid[]) and (e.organisation_id = $1::uuid) is true
    union all
    select e.id from kept_execution e left join subscription b on b.id = e.owner_id left join application a on a.id = b.application_id
    where e.id = any ($2::uuid[]) and (e.owner_id = $1::uuid or a.organisation_id = $1::uuid) is true
  ) own`;

/** Rows that one statement changes. */
const AT_ONCE = 500;

/** Cancels those of the ids that are the organisation's own and have not ended; returns how many. */
export async function cancelAll(
  database: Pick<Database, "query">,
  noteCancelled: NoteCancelled,
  { organisationId }: Asker,
  ids: readonly string[],
): Promise<number> {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
  let cancelled = 0;
  for (let from = 0; from < sorted.length; from += AT_ONCE) {
    const step = await cancelManyOf(database.query, sorted.slice(from, from + AT_ONCE), organisationId);
    noteCancelled(step.ended);
    cancelled += step.cancelled;
  }
  return cancelled;
}
