import { CANCELLED_BEFORE } from "@platform/engine/store/execution-store";
import { CANCELLED_BETWEEN } from "@platform/engine/store/retry-rules";
import type { RunStatement, Statement } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { ENDS_HERE } from "./cancel.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";

/** No store has this name, so all of them are notified, that of this process as well. */
const ORIGIN = "";

const UNENDED = "e.status in ('PENDING', 'RUNNING')";

/**
 * Cancels all executions `e` that are due, each as a single one is (cancel.ts), and notes in the feed what ends here. `isDue` says that they have
 * not ended. Parameters: why those ended that have no attempt, and the others; `isDue` has its own from $3 on.
 */
const describeCancel = (isDue: string): string => `with due as materialized (
    -- In the order of ids, as far as others keep to one. A claim that takes a row at the same time is waited for.
    select e.id from execution e where ${isDue} order by e.id for no key update
  ), ended as (
    update execution e set
      cancel_requested = true,
      status = case when ${ENDS_HERE} then 'FAILED' else e.status end,
      ended_at = case when ${ENDS_HERE} then now() end,
      failure_code = case when ${ENDS_HERE} then 'CANCELLED' end,
      failure_detail = case when ${ENDS_HERE} then case when e.retried > 0 then $2 else $1 end end
    where ${isDue} and (select count(*) from due) > 0 returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended", "status = 'FAILED'")}, numbered as (
    select id, case status when 'FAILED' then 'changed' else 'cancel' end as kind,
      (row_number() over (partition by status = 'FAILED') - 1) / ${MAX_NOTIFIED_IDS} as part
    from ended
  )
  select (select count(*)::int from ended) as cancelled, (select count(*)::int from ended where status = 'FAILED') as ended,
    pg_notify('${EXECUTIONS_CHANNEL}', '${ORIGIN}:' || kind || ':' || ${selectPayloadIds("id")})
  from numbered group by kind, part`;

/** The bounds of the ids make PostgreSQL skip the partitions of other days. */
const AMONG_IDS = "e.id = any ($4::uuid[]) and e.id >= $5::uuid and e.id <= $6::uuid";

const OF_OWNER = describeCancel(`${AMONG_IDS} and (e.owner_id = $3::uuid and ${UNENDED}) is true`);
/** An organisation's own are its jobs, and what its applications have started: `organisation_id` has both. */
const OF_ORGANISATION = describeCancel(
  `${AMONG_IDS} and (e.organisation_id = $3::uuid and ${UNENDED}) is true`,
);
const OF_SUBSCRIPTIONS = describeCancel(`e.owner_id = any ($3::uuid[]) and ${UNENDED}`);

const CANCELLED = [CANCELLED_BEFORE.detail, CANCELLED_BETWEEN.detail] as const;
const SUBSCRIPTION_ENDED = [
  "Its subscription was ended before the execution began.",
  "Its subscription was ended before its next attempt began.",
] as const;

/** What a cancellation has done. */
export interface Cancelled {
  readonly cancelled: number;
  /** Those of them that have ended by it, since they did not run. */
  readonly ended: number;
}

/** Is told of executions that a cancellation of many has ended, once that is stored: of these, listeners get no record. */
export type NoteCancelled = (ended: number) => void;

/** `ExecutionStore.cancelMany` for PostgreSQL. */
export async function cancelMany(
  run: RunStatement,
  ids: readonly string[],
  ownerId: string,
): Promise<Cancelled> {
  if (ids.length === 0) return NONE;
  const values = [...CANCELLED, ownerId, ...describeIds(ids)];
  return await cancel(run, { name: "execution-cancel-many", text: OF_OWNER, values, idempotent: true });
}

/** Cancels those of the ids that are the organisation's own and have not ended. */
export async function cancelManyOf(
  run: RunStatement,
  ids: readonly string[],
  organisationId: string,
): Promise<Cancelled> {
  const values = [...CANCELLED, organisationId, ...describeIds(ids)];
  return await cancel(run, {
    name: "execution-cancel-many-of",
    text: OF_ORGANISATION,
    values,
    audited: ["executions.cancel"],
  });
}

/**
 * Cancels all executions of subscriptions that the transaction has ended: nobody could read their results or cancel them any more, and
 * each would cost something. Those that wait end here, those that run when their workers have been told. After the change of the
 * subscriptions' rows, which has waited for starts under way: none is missed.
 */
export async function cancelExecutionsOf(
  run: RunStatement,
  subscriptionIds: readonly string[],
): Promise<Cancelled> {
  if (subscriptionIds.length === 0) return NONE;
  return await cancel(run, { text: OF_SUBSCRIPTIONS, values: [...SUBSCRIPTION_ENDED, subscriptionIds] });
}

function describeIds(ids: readonly string[]): readonly unknown[] {
  const sorted = [...ids].sort();
  return [sorted, sorted[0], sorted.at(-1)];
}

const NONE: Cancelled = { cancelled: 0, ended: 0 };

async function cancel(run: RunStatement, statement: Statement): Promise<Cancelled> {
  const [{ cancelled, ended } = NONE] = await run<Cancelled>(statement);
  return { cancelled, ended };
}
