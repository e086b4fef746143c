import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { RunStatement } from "../postgres/database.ts";
import { noteAudit } from "./audit/trail.ts";
import { requireRoom } from "./base/bounds.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { isUniqueViolation, parseVersion } from "./base/columns.ts";
import { THIS_MONTH } from "./base/quotas.ts";
import { SELECT_QUOTAS } from "./executions/hold.ts";
import { choosePlan, requireFewChanges, requirePlanRoom } from "./plan-room.ts";

/** Which plan of the service, and which of its versions the endpoint URL names. */
export interface SubscriptionTerms {
  /** Absent: none within an organisation; else the service's only free one. */
  readonly planId?: string | undefined;
  /** MAJOR.MINOR.PATCH, or MAJOR: the highest of this major number; null or absent: the highest of all. */
  readonly version?: string | null | undefined;
}

/** What is to be changed of a subscription; what is absent stays. */
export interface SubscriptionChange extends SubscriptionTerms {
  readonly isPaused?: boolean | undefined;
  readonly areLogsShared?: boolean | undefined;
}

/** A subscription to be made. */
export interface NewSubscription extends SubscriptionTerms {
  readonly organisationId: string;
  readonly applicationId: string;
  readonly serviceKey: string;
}

/** The numbers of a version of which the later ones may be missing. */
interface Followed {
  readonly major: number | null;
  readonly minor: number | null;
  readonly patch: number | null;
}

/**
 * Subscribes an application: to a published service of its own organisation, or to one in the marketplace. Returns the id.
 *
 * @throws Problem NOT_FOUND (application), SERVICE_NOT_FOUND (or version), INVALID_INPUT (plan), QUOTA_EXCEEDED, CONFLICT: not
 * published, subscribed already, or executions of a former subscription still count for its limits
 */
export async function subscribe(run: RunStatement, wanted: NewSubscription): Promise<string> {
  const { organisationId, applicationId, serviceKey } = wanted;
  await lockApplication(run, organisationId, applicationId);
  await requireRoom(run, "subscriptions", {
    text: "from subscription where application_id = $1 and cancelled_at is null",
    values: [applicationId],
  });
  const isOwn = await findOffer(run, organisationId, serviceKey);
  const plan = await choosePlan(run, serviceKey, { wanted: wanted.planId, isOwn });
  const version = await readFollowed(run, serviceKey, wanted.version ?? null);
  await requireEnded(run, applicationId, serviceKey);
  await requireFewChanges(run, wanted);
  if (plan !== null) await requirePlanRoom(run, wanted, plan);
  const id = createUuidV7();
  noteAudit({ target: [id] });
  try {
    await run({
      text: `with made as (
          insert into subscription (id, application_id, service_key, plan_id, major, minor, patch)
          values ($1, $2, $3, $4, $5, $6, $7) returning application_id
        ) select pg_notify('${ACCESS_CHANNEL}', 'application:' || made.application_id) from made`,
      values: [
        id,
        applicationId,
        serviceKey,
        plan?.rowId ?? null,
        version.major,
        version.minor,
        version.patch,
      ],
      audited: ["subscription.create"],
    });
    await setLimits(run, id);
    return id;
  } catch (error) {
    if (!isUniqueViolation(error, "subscription_one_active")) throw error;
    throw refuseSecond(error);
  }
}

function refuseSecond(cause?: unknown): Problem {
  return new Problem(
    "CONFLICT",
    "The application is already subscribed to this service; change that subscription, or end it first.",
    { cause },
  );
}

/**
 * Changes an active subscription of the organisation; false: there is none.
 *
 * @throws Problem SERVICE_NOT_FOUND (version), INVALID_INPUT (plan), QUOTA_EXCEEDED, CONFLICT: the provider has ended it
 */
export async function changeSubscription(
  run: RunStatement,
  { organisationId, id }: { readonly organisationId: string; readonly id: string },
  change: SubscriptionChange,
): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { planId, version, isPaused, areLogsShared } = change;
  if (planId !== undefined) await lockPlans(run, organisationId, id);
  const row = await lockChanged(run, organisationId, id);
  if (row === null) return false;
  if (planId !== undefined) await changePlan(run, { ...row, organisationId }, planId);
  if (version !== undefined) {
    const { major, minor, patch } = await readFollowed(run, row.serviceKey, version);
    await run({
      text: "update subscription set major = $2, minor = $3, patch = $4 where id = $1",
      values: [id, major, minor, patch],
    });
  }
  if (isPaused !== undefined) {
    await run({
      text: "update subscription set paused_at = case when $2 then coalesce(paused_at, now()) end where id = $1",
      values: [id, isPaused],
    });
  }
  if (areLogsShared !== undefined) {
    await run({
      text: "update subscription set shares_logs = $2 where id = $1",
      values: [id, areLogsShared],
    });
  }
  await run({
    text: `select pg_notify('${ACCESS_CHANNEL}', 'application:' || b.application_id) from subscription b where b.id = $1`,
    values: [id],
    audited: ["subscription.update"],
  });
  return true;
}

/** The subscription that is changed. */
interface Changed {
  readonly id: string;
  readonly applicationId: string;
  readonly serviceKey: string;
  readonly planRowId: string | null;
}

/** Null: the organisation has no such active subscription. @throws Problem CONFLICT: the provider has ended it */
async function lockChanged(run: RunStatement, organisationId: string, id: string): Promise<Changed | null> {
  const [row] = await run<Changed & { readonly hasEnded: boolean }>({
    text: `select b.ended_at is not null as "hasEnded", b.id, b.application_id as "applicationId", b.service_key as "serviceKey", b.plan_id as "planRowId" from subscription b join application a on a.id = b.application_id
      where b.id = $2 and a.organisation_id = $1 and b.cancelled_at is null for no key update of b`,
    values: [organisationId, id],
  });
  if (row === undefined) return null;
  if (row.hasEnded)
    throw new Problem(
      "CONFLICT",
      "The provider of the service has ended the subscription; it cannot be changed any more.",
    );
  return row;
}

async function changePlan(
  run: RunStatement,
  subscription: Changed & { readonly organisationId: string },
  wanted: string,
): Promise<void> {
  const { id, serviceKey, planRowId } = subscription;
  const plan = await choosePlan(run, serviceKey, { wanted, isOwn: false });
  if (plan === null || plan.rowId === planRowId) return;
  await requireFewChanges(run, subscription);
  await requirePlanRoom(run, subscription, plan);
  await run({ text: "update subscription set plan_id = $2 where id = $1", values: [id, plan.rowId] });
  await setLimits(run, id);
}

/**
 * "for share": the plans of the subscription's service do not change before this transaction commits. A statement of its own before
 * the subscription is locked, in the order of those who delete a service; what is read after it sees the newest plans.
 */
async function lockPlans(run: RunStatement, organisationId: string, id: string): Promise<void> {
  await run({
    text: `select s.key from subscription b join application a on a.id = b.application_id join service s on s.key = b.service_key
      where b.id = $2 and a.organisation_id = $1 for share of s`,
    values: [organisationId, id],
  });
}

/**
 * Gives the subscription the limits of its plan. What was used this month stays counted, also when the plan is changed, or the
 * subscription cancelled and made anew. Without a limit, before and now, there is no row.
 */
async function setLimits(run: RunStatement, id: string): Promise<void> {
  await run({
    text: `with limits as (
        select b.id, b.application_id, b.service_key, case when p.unit = 'execution' then p.hard_cap end as cap,
          case when p.unit = 'cpu-second' then p.hard_cap * 1000000 end as cpu_cap, p.max_concurrent as concurrent
        from subscription b left join plan p on p.id = b.plan_id where b.id = $1
      ), former as (
        select quotas.month, quotas.used, quotas.cpu_used, quotas.cpu_expected from limits
        join subscription o on o.application_id = limits.application_id and o.service_key = limits.service_key
        cross join lateral (${SELECT_QUOTAS} where q.subscription_id = o.id) quotas
        -- By the database's clock: ids are of the clocks of hosts, which differ.
        where o.cancelled_at is not null order by o.cancelled_at desc limit 1
      ), changed as (
        update quota q set cap = limits.cap, cpu_cap = limits.cpu_cap, concurrent = limits.concurrent
        from limits where q.subscription_id = limits.id returning q.subscription_id
      )
      insert into quota (subscription_id, cap, cpu_cap, concurrent, month, used, cpu_used, cpu_expected)
        select id, cap, cpu_cap, concurrent, coalesce(month, ${THIS_MONTH}), coalesce(used, 0), coalesce(cpu_used, 0),
          coalesce(cpu_expected, 1000000)
        from limits left join former on true
        where (coalesce(cap, cpu_cap, concurrent) is not null or used > 0 or cpu_used > 0)
          and not exists (select 1 from changed)`,
    values: [id],
  });
}

/**
 * What has not ended is settled with the subscription that it was started under. A new one would begin without it: its limits could be
 * had as often as an application subscribes, and it would go on from a cap that counts what the platform fails then. A subscription that
 * is active now must not be cancelled meanwhile, with what runs then. Only the last one has such executions: so it was made.
 */
async function requireEnded(run: RunStatement, applicationId: string, serviceKey: string): Promise<void> {
  const [row] = await run<{
    readonly unended: number;
    readonly isActive: boolean | null;
    readonly hasEnded: boolean | null;
  }>({
    text: `select greatest(coalesce(sum(q.unended), 0), (
          select count(*) from execution e where e.status in ('PENDING', 'RUNNING') and e.quota_month is not null and e.owner_id = (
            select o.id from subscription o where o.application_id = $1 and o.service_key = $2 and o.cancelled_at is not null
            order by o.cancelled_at desc limit 1)
        ))::int as unended, bool_or(b.cancelled_at is null) as "isActive",
        bool_or(b.cancelled_at is null and b.ended_at is not null) as "hasEnded"
      from subscription b left join quota q on q.subscription_id = b.id where b.application_id = $1 and b.service_key = $2`,
    values: [applicationId, serviceKey],
  });
  if (row?.hasEnded)
    throw new Problem(
      "CONFLICT",
      "The provider has ended the application's subscription to this service. Remove it, then subscribe.",
    );
  if (row?.isActive) throw refuseSecond();
  const unended = row?.unended ?? 0;
  if (unended === 0) return;
  const what = unended === 1 ? "1 execution has" : `${unended} executions have`;
  throw new Problem(
    "CONFLICT",
    `The application had a subscription to this service before, of which ${what} not ended. Subscribe when that is so.`,
  );
}

/** The application cannot be deleted before this transaction commits, and is subscribed to one service after the other. */
async function lockApplication(
  run: RunStatement,
  organisationId: string,
  applicationId: string,
): Promise<void> {
  const rows = isUuid(applicationId)
    ? await run({
        text: `select a.id from application a
          where a.id = $2 and a.organisation_id = $1 and a.deleted_at is null for no key update`,
        values: [organisationId, applicationId],
      })
    : [];
  if (rows.length === 0) throw new Problem("NOT_FOUND", "There is no such application.");
}

/**
 * Whether the service is the organisation's own; one of another organisation that is not in the marketplace does not exist. "for
 * share": it is neither taken back nor deleted, nor are its plans changed, before this transaction commits.
 */
async function findOffer(run: RunStatement, organisationId: string, serviceKey: string): Promise<boolean> {
  if (!isUuid(serviceKey)) throw new Problem("SERVICE_NOT_FOUND");
  const [service] = await run<{ readonly isOwn: boolean; readonly publication: string | null }>({
    text: `select s.organisation_id = $1 as "isOwn", s.publication
      from service s join organisation o on o.id = s.organisation_id
      where s.key = $2 and o.deleted_at is null and (s.organisation_id = $1 or s.publication = 'marketplace')
      for share of s`,
    values: [organisationId, serviceKey],
  });
  if (service === undefined) throw new Problem("SERVICE_NOT_FOUND");
  if (service.publication === null)
    throw new Problem("CONFLICT", "The service is not published; publish it first.");
  return service.isOwn;
}

/** The numbers to follow. @throws Problem SERVICE_NOT_FOUND when the service has no such live version */
async function readFollowed(
  run: RunStatement,
  serviceKey: string,
  version: string | null,
): Promise<Followed> {
  if (version === null) return { major: null, minor: null, patch: null };
  const number = parseVersion(version);
  const followed = number ?? { major: Number(version), minor: null, patch: null };
  const rows = await run({
    text: `select 1 from version v where v.service_key = $1 and v.retired_at is null and v.major = $2
      and ($3::int is null or (v.minor = $3 and v.patch = $4::int)) limit 1`,
    values: [serviceKey, followed.major, followed.minor, followed.patch],
  });
  if (rows.length > 0) return followed;
  throw new Problem("SERVICE_NOT_FOUND", `The service has no live version ${version}.`);
}
