/** SQL: the first day of this month, UTC. */
export const THIS_MONTH = "date_trunc('month', now() at time zone 'UTC')::date";
