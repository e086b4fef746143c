import { Problem } from "@platform/contract/problems";
import type { RunStatement } from "../postgres/database.ts";
import { PLAN_LOCK } from "../postgres/locks.ts";
import { THIS_MONTH } from "./base/quotas.ts";
import { isFree, readCurrent } from "./plans.ts";
import type { PlanRecord } from "./plans.ts";

/** An application that is to have a plan of a service. */
interface PlanTaker {
  readonly organisationId: string;
  readonly applicationId: string;
  readonly serviceKey: string;
}

/**
 * How often an application may subscribe to one service or change its plan there, in a day: each time leaves a row that is kept as long
 * as the usage, since it decides what an execution costs.
 */
export const PLAN_CHANGES_A_DAY = 50;

/** SQL: the first day of the next month, UTC. */
const NEXT_MONTH = `(${THIS_MONTH} + interval '1 month') at time zone 'UTC'`;

/** SQL: the beginning of this day, UTC. */
const TODAY = "date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'";

const secondsUntil = (time: string) => `greatest(1, ceil(extract(epoch from ${time} - now())))::int`;

interface Counted {
  readonly count: number;
  /** Until the count begins anew. */
  readonly seconds: number;
}

/** The revision of the plan that is wanted. What costs something is never chosen unasked. @throws Problem INVALID_INPUT */
export async function choosePlan(
  run: RunStatement,
  serviceKey: string,
  { wanted, isOwn }: { readonly wanted: string | undefined; readonly isOwn: boolean },
): Promise<PlanRecord | null> {
  if (wanted === undefined && isOwn) return null;
  const plans = await readCurrent(run, serviceKey);
  const fitting = plans.filter((plan) => (wanted === undefined ? isFree(plan) : plan.id === wanted));
  const [plan] = fitting;
  if (plan !== undefined && fitting.length === 1) return plan;
  const message =
    wanted === undefined
      ? `is missing; choose one of ${listIds(plans)}`
      : `is no plan of the service; choose one of ${listIds(plans)}`;
  throw new Problem("INVALID_INPUT", `/planId ${message}.`, { errors: [{ path: "/planId", message }] });
}

function listIds(plans: readonly PlanRecord[]): string {
  return plans.map(({ id }) => id).join(", ") || "(none)";
}

/**
 * Checks whether the application may get another plan of the service today, under the lock of the application or its subscription.
 *
 * @throws Problem QUOTA_EXCEEDED
 */
export async function requireFewChanges(
  run: RunStatement,
  { applicationId, serviceKey }: PlanTaker,
): Promise<void> {
  const [row] = await run<Counted>({
    text: `select count(*)::int as count, ${secondsUntil(`(${TODAY} + interval '1 day')`)} as seconds
      from subscription b join subscription_term t on t.subscription_id = b.id
      where b.application_id = $1 and b.service_key = $2 and t.since >= ${TODAY}`,
    values: [applicationId, serviceKey],
  });
  if (row === undefined || row.count < PLAN_CHANGES_A_DAY) return;
  throw new Problem(
    "QUOTA_EXCEEDED",
    `The application has subscribed to this service, or changed its plan there, ${row.count} times today (UTC), which is the limit. Try again tomorrow, or use another application.`,
    { headers: { "retry-after": String(row.seconds) } },
  );
}

/**
 * Checks whether the plan may be had by one more application of the organisation this month. Those count that have it or have had it,
 * also where they have changed or cancelled it since, or were deleted: each has had the units that are included.
 *
 * @throws Problem QUOTA_EXCEEDED
 */
export async function requirePlanRoom(run: RunStatement, taker: PlanTaker, plan: PlanRecord): Promise<void> {
  const { applications } = plan;
  if (applications === null) return;
  // Until the commit: two applications do not take the last place. The count is a statement of its own, since it must see what was
  // committed while the lock was waited for.
  await run({
    text: `select pg_advisory_xact_lock(${PLAN_LOCK}, hashtext($1))`,
    values: [taker.organisationId],
  });
  const [row] = await run<Counted>({
    text: `select count(distinct a.id)::int as count, ${secondsUntil(`(${NEXT_MONTH})`)} as seconds
      from subscription b join application a on a.id = b.application_id
      cross join lateral (
        select t.plan_id, lead(t.since) over (order by t.since) as until from subscription_term t where t.subscription_id = b.id
      ) term join plan p on p.id = term.plan_id
      where a.organisation_id = $1 and b.service_key = $2 and a.id <> $3 and p.slug = $4
        and (coalesce(term.until, least(b.cancelled_at, b.ended_at), 'infinity') at time zone 'UTC')::date >= ${THIS_MONTH}`,
    values: [taker.organisationId, taker.serviceKey, taker.applicationId, plan.id],
  });
  if (row === undefined || row.count < applications) return;
  const what = applications === 1 ? "1 application" : `${applications} applications`;
  throw new Problem(
    "QUOTA_EXCEEDED",
    `The plan ${plan.id} is for ${what} of an organisation in a month, and ${row.count} other than this one have or had it this month. Use one of these, choose another plan, or subscribe when the next month (UTC) has begun.`,
    { headers: { "retry-after": String(row.seconds) } },
  );
}
