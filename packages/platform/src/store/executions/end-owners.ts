import type { RunStatement } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";

/** No store has this name, so all of them are notified, that of this process as well. */
const ORIGIN = "";

const UNENDED = "e.owner_id = any ($1::uuid[]) and e.status in ('PENDING', 'RUNNING')";

const TEXT = `with due as materialized (
    -- In the order of ids, as far as others keep to one. A claim that takes a row at the same time is waited for.
    select e.id from execution e where ${UNENDED} order by e.id for no key update
  ), ended as (
    -- As a single one is cancelled (cancel.ts).
    update execution e set
      cancel_requested = true,
      status = case e.status when 'PENDING' then 'FAILED' else e.status end,
      ended_at = case e.status when 'PENDING' then now() end,
      failure_code = case e.status when 'PENDING' then 'CANCELLED' end,
      failure_detail = case e.status when 'PENDING' then 'Its subscription was ended before '
        || case when e.retried > 0 then 'its next attempt' else 'the execution' end || ' began.' end
    where ${UNENDED} and (select count(*) from due) > 0 returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended", "status = 'FAILED'")}, numbered as (
    select id, case status when 'FAILED' then 'changed' else 'cancel' end as kind,
      (row_number() over (partition by status) - 1) / ${MAX_NOTIFIED_IDS} as part
    from ended
  )
  select pg_notify('${EXECUTIONS_CHANNEL}', '${ORIGIN}:' || kind || ':' || ${selectPayloadIds("id")}) from numbered group by kind, part`;

/**
 * Cancels all executions of subscriptions that the transaction has ended: nobody could read their results or cancel them any more, and
 * each would cost something. Those that wait end here, those that run when their workers have been told. After the change of the
 * subscriptions' rows, which has waited for starts under way: none is missed.
 */
export async function cancelExecutionsOf(
  run: RunStatement,
  subscriptionIds: readonly string[],
): Promise<void> {
  if (subscriptionIds.length > 0) await run({ text: TEXT, values: [subscriptionIds] });
}
