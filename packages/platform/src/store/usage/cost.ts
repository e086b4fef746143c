import type { UsageSide } from "@platform/contract/platform-api/usage";
import { USAGE_SUMS } from "../executions/meter.ts";

/*
 * What usage costs, in exact decimal arithmetic (`numeric`). Two rules:
 *
 * - Use: the units that an application has used of a service in a month (UTC) are lined up by day. Those beyond the included
 *   ones of the plan that each was started under cost its prices. Where a line is partly beyond, that part of all it has used is
 *   charged: executions and CPU-seconds alike.
 * - Fees: each day on which an application has a plan of a service, if only for a moment, costs its part of the month's fee: who
 *   changes to another plan for the night saves nothing. The parts of a month add up to the fee.
 *
 * A cost belongs to a day and a line, so sums over anything add up to the same. Both sides of a subscription see all lines of its
 * application and service, and so compute the same.
 */

/** SQL: the first day of the month of a date. */
const firstOfMonth = (day: string) => `(${day} - (extract(day from ${day})::int - 1))`;

/** SQL: of an expression that is a timestamp. */
const utcDay = (time: string) => `(${time} at time zone 'UTC')::date`;

/** Amounts are exact to a millionth of the smallest price for a millionth of a second. */
const SCALE = 12;

/** SQL: the conditions of each side; $1 is the organisation. `u`: usage; `s`, `b`, `a`: service, subscription, application. */
const OWN_LINES: Readonly<Record<UsageSide, string>> = {
  consumer: "u.organisation_id = $1",
  // Jobs are the organisation's own use.
  provider: "s.organisation_id = $1 and b.id is not null",
};
const OWN_TERMS: Readonly<Record<UsageSide, string>> = {
  consumer: "a.organisation_id = $1",
  provider: "s.organisation_id = $1",
};

const sums = USAGE_SUMS.map((name) => `sum(u.${name}) as ${name}`).join(", ");

/** SQL: units of a line, whether of executions or of CPU time. */
const unitsOf = (executions: string, cpuSeconds: string) =>
  `case p.unit when 'cpu-second' then ${cpuSeconds} else ${executions} end`;

/** SQL: the part of units that is beyond the included ones. */
const beyond = (units: string) => `greatest(0, ${units} - included_quota)`;

/**
 * CTEs that end with `item`: numbers and costs by day, owner_id, application_id (null: jobs), service_key, version_id (null: a fee) and
 * plan_id, from day $2 to day $3.
 */
export function selectCosts(side: UsageSide): string {
  return `line as (
    -- From the beginning of the month: what was included is used up by then.
    select u.day, u.owner_id, b.id as subscription_id, b.application_id, v.service_key, u.version_id, u.plan_id, ${sums}
    from (select * from usage_day union all select * from usage_entry) u
    join version v on v.id = u.version_id join service s on s.key = v.service_key
    left join subscription b on b.id = u.owner_id left join application a on a.id = b.application_id
    where ${OWN_LINES[side]} and u.day >= ${firstOfMonth("$2::date")} and u.day <= $3::date
    group by u.day, u.owner_id, b.id, b.application_id, v.service_key, u.version_id, u.plan_id
  ), charged as (
    select line.*, succeeded + failed + unknown - uncounted as executions, cpu_micros * 0.000001 as cpu_seconds from line
  ), lined_up as (
    select c.*, p.currency, p.included_quota, c.executions * p.per_execution + c.cpu_seconds * p.per_cpu_second as price,
      ${unitsOf("c.executions", "c.cpu_seconds")} as units,
      ${unitsOf("sum(c.executions) over before", "sum(c.cpu_seconds) over before")} as units_then
    from charged c left join plan p on p.id = c.plan_id
    window before as (partition by c.application_id, c.service_key, ${firstOfMonth("c.day")}
      order by c.day, c.plan_id, c.version_id, c.owner_id rows unbounded preceding)
  ), priced as (
    select *, case
        when units > 0 then round(price * (${beyond("units_then")} - ${beyond("(units_then - units)")}) / units, ${SCALE})
        when units_then >= included_quota then price
        else 0
      end as cost
    from lined_up
  ), term as (
    select t.subscription_id, t.plan_id, b.application_id, b.service_key, ${utcDay("t.since")} as first,
      ${utcDay("(lead(t.since) over (partition by t.subscription_id order by t.since) - interval '1 millisecond')")} as last,
      ${utcDay("least(b.cancelled_at, b.ended_at)")} as ended
    from subscription_term t join subscription b on b.id = t.subscription_id
    join application a on a.id = b.application_id join service s on s.key = b.service_key
    where ${OWN_TERMS[side]}
  ), fee as (
    select f.*, extract(day from day) as nth, extract(day from ${firstOfMonth("day")} + interval '1 month' - interval '1 day') as days
    from (
      -- One fee, also where the application has subscribed anew, or changed the plan and back.
      select distinct on (t.application_id, t.service_key, t.plan_id, greatest(t.first, $2::date) + i)
        t.*, p.monthly_fee, p.currency, greatest(t.first, $2::date) + i as day
      from term t join plan p on p.id = t.plan_id and p.monthly_fee > 0
      cross join lateral generate_series(0,
        least($3::date, ${utcDay("now()")}, t.last, t.ended) - greatest(t.first, $2::date)) i
      order by t.application_id, t.service_key, t.plan_id, greatest(t.first, $2::date) + i, t.subscription_id
    ) f
  ), item as (
    select day, owner_id, subscription_id, application_id, service_key, version_id, plan_id, ${USAGE_SUMS.join(", ")}, currency, cost
    from priced where day >= $2::date
    union all
    select day, subscription_id, subscription_id, application_id, service_key, null, plan_id, ${USAGE_SUMS.map(() => "0").join(", ")}, currency,
      round(monthly_fee * nth / days, ${SCALE}) - round(monthly_fee * (nth - 1) / days, ${SCALE})
    from fee
  )`;
}
