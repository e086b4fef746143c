import { USAGE_LOCK } from "../../postgres/locks.ts";
import type { Database } from "../../postgres/database.ts";
import { USAGE_KEYS, USAGE_SUMS } from "../executions/meter.ts";

/** At most so many entries in one statement. */
const AT_ONCE = 20_000;

/**
 * Takes entries away and adds them to their days in one statement: whenever it is killed, both have happened or neither. Where two run
 * at the same time, an entry is taken by the one that removes it; the lock only saves the other the wait.
 */
const ROLL_UP = `with guard as materialized (
    select pg_try_advisory_xact_lock(${USAGE_LOCK}) as is_ours
  ), taken as (
    delete from usage_entry where ctid = any (array(
      select ctid from usage_entry where (select is_ours from guard) limit ${AT_ONCE}
    )) returning *
  ), added as (
    insert into usage_day as u (${USAGE_KEYS}, ${USAGE_SUMS.join(", ")})
    select ${USAGE_KEYS}, ${USAGE_SUMS.map((name) => `sum(${name})`).join(", ")} from taken group by ${USAGE_KEYS}
    on conflict on constraint usage_day_line do update set ${USAGE_SUMS.map((name) => `${name} = u.${name} + excluded.${name}`).join(", ")}
  )
  select count(*)::int as count from taken`;

/** Adds the entries of usage to their days; returns how many there were. Nothing where another process is doing so. */
export async function rollUpUsage(database: Pick<Database, "query">): Promise<number> {
  for (let total = 0; ;) {
    const [row] = await database.query<{ readonly count: number }>({ text: ROLL_UP, idempotent: true });
    const count = row?.count ?? 0;
    total += count;
    if (count < AT_ONCE) return total;
  }
}
