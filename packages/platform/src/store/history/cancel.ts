import { MOST_CANCELLED } from "@platform/contract/platform-api/execution-actions";
import { CANCELLED_BEFORE } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "../executions/events.ts";
import { SETTLE } from "../executions/hold.ts";
import { COUNT_USAGE } from "../executions/meter.ts";
import { noteStates } from "../executions/note-states.ts";
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

/** No store has this name, so all of them are notified, that of this process as well. */
const ORIGIN = "";

/** `organisation_id` is that of a job, or of the application that has started it. */
const IS_DUE =
  "e.id = any ($2::uuid[]) and e.id >= $3::uuid and e.id <= $4::uuid and (e.organisation_id = $1::uuid and e.status in ('PENDING', 'RUNNING')) is true";

const CANCEL = `with due as materialized (
    -- In the order of ids, as far as others keep to one. A claim that takes a row at the same time is waited for.
    select e.id from execution e where ${IS_DUE} order by e.id for no key update
  ), ended as (
    -- As a single one is cancelled (executions/cancel.ts).
    update execution e set
      cancel_requested = true,
      status = case e.status when 'PENDING' then 'FAILED' else e.status end,
      ended_at = case e.status when 'PENDING' then now() end,
      failure_code = case e.status when 'PENDING' then 'CANCELLED' end,
      failure_detail = case e.status when 'PENDING' then $5 end
    where ${IS_DUE} and (select count(*) from due) > 0 returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended", "status = 'FAILED'")}, numbered as (
    select id, case status when 'FAILED' then 'changed' else 'cancel' end as kind,
      (row_number() over (partition by status) - 1) / ${MAX_NOTIFIED_IDS} as part
    from ended
  )
  select (select count(*)::int from ended) as cancelled,
    pg_notify('${EXECUTIONS_CHANNEL}', '${ORIGIN}:' || kind || ':' || ${selectPayloadIds("id")})
  from numbered group by kind, part`;

/** Cancels those of the ids that are the organisation's own and have not ended; returns how many. */
export async function cancelAll(
  database: Pick<Database, "query">,
  { organisationId }: Asker,
  ids: readonly string[],
): Promise<number> {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
  let cancelled = 0;
  for (let from = 0; from < sorted.length; from += AT_ONCE) {
    const batch = sorted.slice(from, from + AT_ONCE);
    const [row] = await database.query<{ readonly cancelled: number }>({
      name: "history-cancel",
      text: CANCEL,
      values: [organisationId, batch, batch[0], batch.at(-1), CANCELLED_BEFORE.detail],
      audited: ["executions.cancel"],
    });
    cancelled += row?.cancelled ?? 0;
  }
  return cancelled;
}
