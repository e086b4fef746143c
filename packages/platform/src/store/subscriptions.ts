import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { FOLLOWED, selectLatestVersion, selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";
import { cancelExecutionsOf } from "./executions/cancel-many.ts";
import type { Cancelled, NoteCancelled } from "./executions/cancel-many.ts";
import { QUOTA_COLUMNS, SELECT_QUOTAS } from "./executions/hold.ts";
import type { QuotaRow } from "./executions/hold.ts";
import { toLimits } from "./executions/limits.ts";
import type { SubscriptionLimits } from "./executions/limits.ts";
import { PLAN_COLUMNS } from "./plans.ts";
import type { PlanRecord } from "./plans.ts";
import { endAsProvider } from "./end-subscription.ts";
import type { EndedByProvider } from "./end-subscription.ts";
import { findStartable } from "./subscription-start.ts";
import type { StartableSubscription } from "./subscription-start.ts";
import { listVersionCallers } from "./versions/version-callers.ts";
import type { VersionCallerRecord } from "./versions/version-callers.ts";
import { changeSubscription, subscribe } from "./subscribe.ts";
import type { NewSubscription, SubscriptionChange, SubscriptionTerms } from "./subscribe.ts";

/** An active subscription of an application to a service. */
export interface SubscriptionRecord extends SubscriptionLimits {
  readonly id: string;
  readonly applicationId: string;
  readonly serviceKey: string;
  readonly serviceName: string;
  /** Starts no executions. */
  readonly isPaused: boolean;
  /** Whether the provider of the service may read the logs of what it starts. */
  readonly areLogsShared: boolean;
  /** MAJOR.MINOR.PATCH, or the MAJOR that it follows; null: the highest of all. */
  readonly version: string | null;
  /** When the provider of the service ended it, in milliseconds since the epoch; null: it has not. */
  readonly endedAt: number | null;
  /** Null: it has not ended. */
  readonly endReason: string | null;
  /** The version that its endpoint URL names, `MAJOR.MINOR.PATCH`; null: there is none. */
  readonly endpointVersion: string | null;
  /** That version was retired. */
  readonly isEndpointRetired: boolean;
  /** The highest live version of the service, `MAJOR.MINOR.PATCH`; null: none is live. */
  readonly latestVersion: string | null;
  /** Null: within one organisation, without a plan. */
  readonly plan: PlanRecord | null;
  /** Whether the service could be subscribed to now. */
  readonly isOffered: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** An active subscription as the provider of the service sees it. */
export interface SubscriberRecord extends Pick<
  SubscriptionRecord,
  "id" | "isPaused" | "version" | "endedAt" | "endReason" | "createdAt"
> {
  readonly organisationName: string;
  readonly applicationName: string;
  readonly planId: string | null;
  readonly planRevision: number | null;
  /** Executions that have ended, of those started in the last 30 days. */
  readonly recentExecutions: number;
}

/** Active subscriptions of the applications of organisations. */
export interface SubscriptionStore {
  /** @throws Problem as `subscribe` */
  readonly create: (
    organisationId: string,
    applicationId: string,
    serviceKey: string,
    terms?: SubscriptionTerms,
  ) => Promise<SubscriptionRecord>;
  /** Newest first. */
  readonly list: (
    organisationId: string,
    page: PageRequest & { readonly applicationId?: string | undefined },
  ) => Promise<Page<SubscriptionRecord>>;
  readonly find: (organisationId: string, id: string) => Promise<SubscriptionRecord | null>;
  /** With this version, or that which it names; null when there is no such active subscription. */
  readonly findStartable: (
    key: { readonly organisationId: string; readonly id: string },
    version: string | undefined,
  ) => Promise<StartableSubscription | null>;
  /** Null when there is no such active subscription. @throws Problem as `changeSubscription` */
  readonly change: (
    organisationId: string,
    id: string,
    change: SubscriptionChange,
  ) => Promise<SubscriptionRecord | null>;
  /** Of a service of the organisation, of all applications; newest first. Empty when the service is not the organisation's. */
  readonly listOfService: (
    organisationId: string,
    serviceKey: string,
    page: PageRequest,
  ) => Promise<Page<SubscriberRecord>>;
  /** Of a version of a service of the organisation; newest first. Empty when there is no such version. */
  readonly listCallers: (
    organisationId: string,
    called: { readonly serviceKey: string; readonly version: string },
    page: PageRequest,
  ) => Promise<Page<VersionCallerRecord>>;
  /** False when the service of the organisation has no such subscription. */
  readonly endAsProvider: (ended: EndedByProvider) => Promise<boolean>;
  /** False when there was no such active subscription. */
  readonly cancel: (organisationId: string, id: string) => Promise<boolean>;
}

const END_COLUMNS = `${selectMilliseconds("b.ended_at")} as "endedAt", b.end_reason as "endReason"`;

const OFFERED =
  "s.publication is not null and (s.publication = 'marketplace' or s.organisation_id = a.organisation_id)";

/** Of a subscription that has ended, and whose service is not offered to its owner, nothing is read that came after its end. */
const COLUMNS = `b.id, b.application_id as "applicationId", b.service_key as "serviceKey", s.name as "serviceName",
  b.paused_at is not null as "isPaused", b.shares_logs as "areLogsShared", ${FOLLOWED} as version, ${END_COLUMNS},
  case when b.minor is not null then ${FOLLOWED} else (
    select concat_ws('.', v.major, v.minor, v.patch) from version v
    where v.service_key = s.key and v.retired_at is null and (b.major is null or v.major = b.major)
      and (b.ended_at is null or v.created_at <= b.ended_at)
    order by v.major desc, v.minor desc, v.patch desc limit 1) end as "endpointVersion",
  exists (select 1 from version v where v.service_key = s.key and (v.major, v.minor, v.patch) = (b.major, b.minor, b.patch)
    and v.retired_at is not null) as "isEndpointRetired",
  case when b.ended_at is null or ${OFFERED} then ${selectLatestVersion("s.key")} end as "latestVersion",
  (select to_jsonb(plan) from (select ${PLAN_COLUMNS} from plan p where p.id = b.plan_id) plan) as plan,
  (select to_jsonb(quota) from (
    select ${QUOTA_COLUMNS} from (${SELECT_QUOTAS} where q.subscription_id = b.id) quotas) quota) as "quotaRow",
  ${OFFERED} as "isOffered",
  ${selectMilliseconds("b.created_at")} as "createdAt"`;

const ACTIVE = `from subscription b join application a on a.id = b.application_id join service s on s.key = b.service_key
  where a.organisation_id = $1 and b.cancelled_at is null`;

type SubscriptionRow = Omit<SubscriptionRecord, keyof SubscriptionLimits> & {
  /** Null: its plans have had no limit that is counted. */
  readonly quotaRow: QuotaRow | null;
};

function toRecord({ quotaRow, ...row }: SubscriptionRow): SubscriptionRecord {
  return { ...row, ...toLimits(quotaRow) };
}

/** The store of subscriptions in PostgreSQL. */
export function createSubscriptionStore(
  database: Database,
  noteCancelled: NoteCancelled = () => undefined,
): SubscriptionStore {
  return {
    create: (organisationId, applicationId, serviceKey, terms = {}) =>
      createSubscription(database, { ...terms, organisationId, applicationId, serviceKey }),
    list: (organisationId, page) => listSubscriptions(database, organisationId, page),
    find: (organisationId, id) => findSubscription(database, organisationId, id),
    findStartable: (key, version) => findStartable(database, key, version),
    change: async (organisationId, id, change) => {
      const isChanged = await database.transaction((run) =>
        changeSubscription(run, { organisationId, id }, change),
      );
      return isChanged ? await findSubscription(database, organisationId, id) : null;
    },
    listOfService: (organisationId, serviceKey, page) =>
      listSubscribers(database, organisationId, serviceKey, page),
    listCallers: (organisationId, called, page) =>
      listVersionCallers(database, { ...called, organisationId }, page),
    endAsProvider: (ended) => database.transaction((run) => endAsProvider(run, ended)),
    cancel: async (organisationId, id) => {
      const cancelled = await cancelSubscription(database, organisationId, id);
      if (cancelled !== null) noteCancelled(cancelled.ended);
      return cancelled !== null;
    },
  };
}

async function createSubscription(database: Database, wanted: NewSubscription): Promise<SubscriptionRecord> {
  const id = await database.transaction((run) => subscribe(run, wanted));
  const made = await findSubscription(database, wanted.organisationId, id);
  if (made === null)
    throw new Problem("CONFLICT", "The subscription was cancelled immediately after it was created.");
  return made;
}

async function listSubscriptions(
  database: Database,
  organisationId: string,
  page: PageRequest & { readonly applicationId?: string | undefined },
): Promise<Page<SubscriptionRecord>> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  if (page.applicationId !== undefined && !isUuid(page.applicationId)) return { items: [], nextCursor: null };
  const rows = await database.query<SubscriptionRow>({
    text: `select ${COLUMNS} ${ACTIVE} and ($2::uuid is null or b.id < $2) and ($3::uuid is null or b.application_id = $3)
      order by b.id desc limit $4`,
    values: [organisationId, before, page.applicationId ?? null, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows.map(toRecord), page.limit, (row) => [row.id]);
}

async function findSubscription(
  database: Database,
  organisationId: string,
  id: string,
): Promise<SubscriptionRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<SubscriptionRow>({
    text: `select ${COLUMNS} ${ACTIVE} and b.id = $2`,
    values: [organisationId, id],
    idempotent: true,
  });
  return row ? toRecord(row) : null;
}

const RECENT_DAYS = 30;

/** CTEs: the days, and what of them is not added to its day yet. That is of the last minute, has no index, and is read once for all subscribers. */
const RECENT = `days as materialized (
      select (now() at time zone 'UTC')::date - n as day from generate_series(0, ${RECENT_DAYS - 1}) n
    ), entered as materialized (
      select owner_id, sum(succeeded + failed + unknown) as executions from usage_entry where day in (select day from days) group by owner_id
    )`;

/** SQL, behind `RECENT`: by subscription and day, as the index of usage has them. */
const RECENT_EXECUTIONS = `(coalesce((select sum(d.succeeded + d.failed + d.unknown) from days
          join usage_day d on d.organisation_id = a.organisation_id and d.day = days.day and d.owner_id = b.id), 0)
        + coalesce(entered.executions, 0))::float8`;

async function listSubscribers(
  database: Database,
  organisationId: string,
  serviceKey: string,
  page: PageRequest,
): Promise<Page<SubscriberRecord>> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  if (!isUuid(serviceKey)) return { items: [], nextCursor: null };
  const rows = await database.query<SubscriberRecord>({
    text: `with ${RECENT}
      select b.id, b.paused_at is not null as "isPaused", ${FOLLOWED} as version, ${END_COLUMNS}, o.name as "organisationName",
        a.name as "applicationName", p.slug as "planId", p.revision as "planRevision",
        ${selectMilliseconds("b.created_at")} as "createdAt", ${RECENT_EXECUTIONS} as "recentExecutions"
      from service s join subscription b on b.service_key = s.key join application a on a.id = b.application_id
      join organisation o on o.id = a.organisation_id left join plan p on p.id = b.plan_id
      left join entered on entered.owner_id = b.id
      where s.organisation_id = $1 and s.key = $2 and b.cancelled_at is null and ($3::uuid is null or b.id < $3)
      order by b.id desc limit $4`,
    values: [organisationId, serviceKey, before, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows, page.limit, (row) => [row.id]);
}

/** Null: there is none. */
async function cancelSubscription(
  database: Database,
  organisationId: string,
  id: string,
): Promise<Cancelled | null> {
  if (!isUuid(id)) return null;
  return await database.transaction(async (run) => {
    const rows = await run({
      text: `with gone as (
          update subscription set cancelled_at = now()
          where id = $2 and cancelled_at is null
            and exists (select 1 from application a where a.id = application_id and a.organisation_id = $1)
          returning id, application_id
        ) select application_id from gone
          cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || gone.application_id)`,
      values: [organisationId, id],
      audited: ["subscription.cancel"],
    });
    return rows.length === 0 ? null : await cancelExecutionsOf(run, [id]);
  });
}
