import { Problem } from "@platform/contract/problems";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement, Statement } from "../postgres/database.ts";
import { noteAudit } from "./audit/trail.ts";
import { requireRoom } from "./base/bounds.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { isUniqueViolation, selectLatestVersion, selectMilliseconds } from "./base/columns.ts";
import { requireOrganisation } from "./base/hold-organisation.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { Page, PageRequest } from "./base/page.ts";
import { deleteService } from "./delete-service.ts";
import type { ServiceObstacles } from "./delete-service.ts";
import { NO_TERMS, insertPlan, lockService, readCurrent } from "./plans.ts";

/** Who can subscribe to a service. */
type Publication = "internal" | "marketplace";

/** A service of an organisation. */
export interface ServiceRecord {
  readonly key: string;
  readonly organisationId: string;
  readonly name: string;
  readonly description: string;
  /** null: nobody can subscribe; internal: applications of the organisation; marketplace: those of all organisations. */
  readonly publication: Publication | null;
  /** Who reads logs of what subscribers of other organisations start: they, or nobody but the provider. */
  readonly logs: "caller" | "provider";
  /** For how many days after their end executions that are started now are kept; null: as the platform keeps others. */
  readonly resultDays: number | null;
  /** The same for their logs. */
  readonly logDays: number | null;
  /** The highest live version, `MAJOR.MINOR.PATCH`; null: there is none. */
  readonly latestVersion: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A service to be created. */
interface NewService {
  readonly organisationId: string;
  readonly name: string;
  readonly description: string;
}

/** What of a service can be changed; what is absent stays. */
interface ServiceChange {
  readonly description?: string | undefined;
  readonly logs?: ServiceRecord["logs"] | undefined;
  readonly resultDays?: number | null | undefined;
  readonly logDays?: number | null | undefined;
}

/** Which services are wanted. */
interface ServiceSearch extends PageRequest {
  /** What the name contains, in any case. */
  readonly text?: string | undefined;
  /** none: nobody can subscribe. */
  readonly publication?: Publication | "none" | undefined;
}

/** Services of organisations; one of another organisation is treated as missing (null). */
export interface ServiceStore {
  /** @throws Problem CONFLICT when the organisation has a service with this name, QUOTA_EXCEEDED, FORBIDDEN: it was deleted meanwhile */
  readonly create: (service: NewService) => Promise<ServiceRecord>;
  readonly findByKey: (organisationId: string, key: string) => Promise<ServiceRecord | null>;
  readonly findByName: (organisationId: string, name: string) => Promise<ServiceRecord | null>;
  /** Newest first. */
  readonly list: (organisationId: string, search: ServiceSearch) => Promise<Page<ServiceRecord>>;
  /** Changes what is given. Gateways follow at once. */
  readonly change: (
    organisationId: string,
    key: string,
    change: ServiceChange,
  ) => Promise<ServiceRecord | null>;
  /**
   * Says who can subscribe, null: nobody. Subscriptions that exist are not concerned. A service in the marketplace without a
   * plan gets one that is free and named so.
   */
  readonly publish: (
    organisationId: string,
    key: string,
    publication: Publication | null,
  ) => Promise<ServiceRecord | null>;
  /** Deletes a service that has had neither versions nor subscriptions, or says what it has. */
  readonly delete: (organisationId: string, key: string) => Promise<"deleted" | ServiceObstacles | null>;
}

const COLUMNS = `s.key, s.organisation_id as "organisationId", s.name, s.description, s.publication, s.logs, s.result_days as "resultDays", s.log_days as "logDays",
  ${selectLatestVersion("s.key")} as "latestVersion", ${selectMilliseconds("s.created_at")} as "createdAt"`;

/** The store of services in PostgreSQL. */
export function createServiceStore(database: Database): ServiceStore {
  return {
    create: (service) => createService(database, service),
    findByKey: (organisationId, key) =>
      queryByKey(database, key, {
        name: "service-find",
        text: `select ${COLUMNS} from service s where s.key = $1 and s.organisation_id = $2`,
        values: [key, organisationId],
        idempotent: true,
      }),
    findByName: (organisationId, name) => findByName(database, organisationId, name),
    list: (organisationId, search) => listServices(database, organisationId, search),
    change: (organisationId, key, change) => changeService(database, organisationId, key, change),
    publish: (organisationId, key, publication) =>
      database.transaction((run) => publishService(run, { organisationId, key, publication })),
    delete: (organisationId, key) => database.transaction((run) => deleteService(run, organisationId, key)),
  };
}

function changeService(
  database: Database,
  organisationId: string,
  key: string,
  { description, logs, resultDays, logDays }: ServiceChange,
): Promise<ServiceRecord | null> {
  return queryByKey(database, key, {
    text: `with s as (
        update service set description = coalesce($3, description), logs = coalesce($4, logs),
          result_days = case when $5 then $6::smallint else result_days end, log_days = case when $7 then $8::smallint else log_days end
        where key = $1 and organisation_id = $2 returning *
      ) select ${COLUMNS} from s cross join lateral pg_notify('${ACCESS_CHANNEL}', 'service:' || s.key)`,
    values: [
      key,
      organisationId,
      description ?? null,
      logs ?? null,
      resultDays !== undefined,
      resultDays ?? null,
      logDays !== undefined,
      logDays ?? null,
    ],
    idempotent: true,
    audited: ["service.update"],
  });
}

async function publishService(
  run: RunStatement,
  { organisationId, key, publication }: Pick<ServiceRecord, "organisationId" | "key" | "publication">,
): Promise<ServiceRecord | null> {
  const service = await lockService(run, organisationId, key);
  if (service === null) return null;
  noteAudit({ changes: [{ field: "publication", before: service.publication, after: publication }] });
  const [row] = await run<ServiceRecord>({
    text: `update service s set publication = $3 where s.key = $1 and s.organisation_id = $2 returning ${COLUMNS}`,
    values: [key, organisationId, publication],
    audited: ["service.publish", "service.unpublish"],
  });
  if (publication === "marketplace" && (await readCurrent(run, key)).length === 0)
    await insertPlan(run, key, "free", { ...NO_TERMS, name: "Free" });
  return row ?? null;
}

async function insertService(
  run: RunStatement,
  { organisationId, name, description }: NewService,
): Promise<ServiceRecord> {
  await requireOrganisation(run, organisationId);
  await requireRoom(run, "services", {
    text: "from service where organisation_id = $1",
    values: [organisationId],
  });
  const [row] = await run<ServiceRecord>({
    text: `insert into service as s (key, organisation_id, name, description) values ($1, $2, $3, $4)
      returning ${COLUMNS}`,
    values: [createUuidV7(), organisationId, name, description],
    audited: ["service.create"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

async function createService(database: Database, service: NewService): Promise<ServiceRecord> {
  try {
    return await database.transaction((run) => insertService(run, service));
  } catch (error) {
    if (!isUniqueViolation(error, "service_name_unique")) throw error;
    throw new Problem("CONFLICT", `The organisation already has a service named ${service.name}.`, {
      cause: error,
    });
  }
}

/** The service that `statement` finds or changes by its key; null: the organisation has none of this key. */
async function queryByKey(
  database: Database,
  key: string,
  statement: Statement,
): Promise<ServiceRecord | null> {
  if (!isUuid(key)) return null;
  const [row] = await database.query<ServiceRecord>(statement);
  return row ?? null;
}

async function findByName(
  database: Database,
  organisationId: string,
  name: string,
): Promise<ServiceRecord | null> {
  const [row] = await database.query<ServiceRecord>({
    text: `select ${COLUMNS} from service s where s.name = $1 and s.organisation_id = $2`,
    values: [name, organisationId],
    idempotent: true,
  });
  return row ?? null;
}

async function listServices(
  database: Database,
  organisationId: string,
  { text, publication, cursor, limit }: ServiceSearch,
): Promise<Page<ServiceRecord>> {
  const [before] = decodeCursor(cursor, [isUuid]) ?? [null];
  const rows = await database.query<ServiceRecord>({
    text: `select ${COLUMNS} from service s where s.organisation_id = $1 and ($2::uuid is null or s.key < $2)
        and ($4::text is null or position(lower($4) in s.name) > 0)
        and ($5::text is null or coalesce(s.publication, 'none') = $5)
      order by s.key desc limit $3`,
    values: [organisationId, before, limit + 1, text ?? null, publication ?? null],
    idempotent: true,
  });
  return cutPage(rows, limit, (row) => [row.key]);
}
