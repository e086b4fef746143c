/** SQL: the first day of this month, UTC. */
export const THIS_MONTH = "date_trunc('month', now() at time zone 'UTC')::date";

/**
 * SQL: closes the count of the subscriptions in `from` (its column `id`), which end: nothing is started under them any more. A start may
 * have been let in whose body is yet to come, and would count for nothing. Those without a limit get a row, too, which such a start meets.
 */
export const closeQuotas = (from: string): string => `insert into quota (subscription_id, cap, month, used)
    select id, 0, ${THIS_MONTH}, 0 from ${from} order by id on conflict (subscription_id) do update set cap = 0`;
