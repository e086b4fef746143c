import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { isUniqueViolation, selectLatestVersion, selectMilliseconds } from "./base/columns.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";

/** An active subscription of an application to a service. */
export interface SubscriptionRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly serviceKey: string;
  readonly serviceName: string;
  /** The highest live version, `MAJOR.MINOR.PATCH`; null: there is none. */
  readonly latestVersion: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Active subscriptions, of applications to services of the same organisation. */
export interface SubscriptionStore {
  /**
   * @throws Problem NOT_FOUND (application), SERVICE_NOT_FOUND, or CONFLICT: not published, or subscribed already
   */
  readonly create: (
    organisationId: string,
    applicationId: string,
    serviceKey: string,
  ) => Promise<SubscriptionRecord>;
  /** Newest first. */
  readonly list: (
    organisationId: string,
    page: PageRequest & { readonly applicationId?: string | undefined },
  ) => Promise<Page<SubscriptionRecord>>;
  readonly find: (organisationId: string, id: string) => Promise<SubscriptionRecord | null>;
  /** False when there was no such active subscription. */
  readonly cancel: (organisationId: string, id: string) => Promise<boolean>;
}

const COLUMNS = `b.id, b.application_id as "applicationId", b.service_key as "serviceKey", s.name as "serviceName",
  ${selectLatestVersion("s.key")} as "latestVersion", ${selectMilliseconds("b.created_at")} as "createdAt"`;

const ACTIVE = `from subscription b join application a on a.id = b.application_id join service s on s.key = b.service_key
  where a.organisation_id = $1 and b.cancelled_at is null`;

/** The store of subscriptions in PostgreSQL. */
export function createSubscriptionStore(database: Database): SubscriptionStore {
  return {
    create: (organisationId, applicationId, serviceKey) =>
      insertSubscription(database, organisationId, applicationId, serviceKey),
    list: (organisationId, page) => listSubscriptions(database, organisationId, page),
    find: (organisationId, id) => findSubscription(database, organisationId, id),
    cancel: (organisationId, id) => cancelSubscription(database, organisationId, id),
  };
}

interface Candidates {
  readonly application: string | null;
  readonly service: string | null;
  readonly publication: string | null;
}

async function insertSubscription(
  database: Database,
  organisationId: string,
  applicationId: string,
  serviceKey: string,
): Promise<SubscriptionRecord> {
  if (!isUuid(applicationId)) throw new Problem("NOT_FOUND", "There is no such application.");
  if (!isUuid(serviceKey)) throw new Problem("SERVICE_NOT_FOUND");
  const id = createUuidV7();
  const [row] = await tryInsert(database, [organisationId, applicationId, serviceKey, id]);
  if (row?.application == null) throw new Problem("NOT_FOUND", "There is no such application.");
  if (row.service === null) throw new Problem("SERVICE_NOT_FOUND");
  if (row.publication === null) {
    throw new Problem("CONFLICT", "The service is not published; publish it first.");
  }
  const made = await findSubscription(database, organisationId, id);
  if (made === null)
    throw new Problem("CONFLICT", "The subscription was cancelled immediately after it was created.");
  return made;
}

async function tryInsert(database: Database, values: readonly string[]): Promise<readonly Candidates[]> {
  try {
    return await database.query<Candidates>({
      text: `with found as (
          -- "for share": the application cannot be deleted before this transaction commits.
          select
            (select a.id from application a where a.id = $2 and a.organisation_id = $1 and a.deleted_at is null for share)
              as application,
            (select s.key from service s where s.key = $3 and s.organisation_id = $1) as service,
            (select s.publication from service s where s.key = $3 and s.organisation_id = $1) as publication
        ), made as (
          insert into subscription (id, application_id, service_key)
          select $4::uuid, application, service from found
          where application is not null and service is not null and publication is not null returning application_id
        ), notified as (
          -- The count is one row also when nothing was inserted, so that the answer can name the reason.
          select count(*) from made cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || made.application_id)
        ) select application, service, publication from found cross join notified`,
      values,
    });
  } catch (error) {
    if (!isUniqueViolation(error, "subscription_one_active")) throw error;
    throw new Problem("CONFLICT", "The application is already subscribed to this service.", { cause: error });
  }
}

async function listSubscriptions(
  database: Database,
  organisationId: string,
  page: PageRequest & { readonly applicationId?: string | undefined },
): Promise<Page<SubscriptionRecord>> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  if (page.applicationId !== undefined && !isUuid(page.applicationId)) return { items: [], nextCursor: null };
  const rows = await database.query<SubscriptionRecord>({
    text: `select ${COLUMNS} ${ACTIVE} and ($2::uuid is null or b.id < $2) and ($3::uuid is null or b.application_id = $3)
      order by b.id desc limit $4`,
    values: [organisationId, before, page.applicationId ?? null, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows, page.limit, (row) => [row.id]);
}

async function findSubscription(
  database: Database,
  organisationId: string,
  id: string,
): Promise<SubscriptionRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<SubscriptionRecord>({
    text: `select ${COLUMNS} ${ACTIVE} and b.id = $2`,
    values: [organisationId, id],
    idempotent: true,
  });
  return row ?? null;
}

async function cancelSubscription(database: Database, organisationId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await database.query({
    text: `with gone as (
        update subscription set cancelled_at = now()
        where id = $2 and cancelled_at is null
          and exists (select 1 from application a where a.id = application_id and a.organisation_id = $1)
        returning application_id
      ) select application_id from gone
        cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || gone.application_id)`,
    values: [organisationId, id],
  });
  return rows.length > 0;
}
