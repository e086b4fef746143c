import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { requireRoom } from "./base/bounds.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { requireOrganisation } from "./base/hold-organisation.ts";
import { cutPage, decodeCursor } from "./base/page.ts";
import type { NameSearch, Page } from "./base/page.ts";
import { cancelExecutionsOf } from "./executions/cancel-many.ts";
import type { Cancelled, NoteCancelled } from "./executions/cancel-many.ts";

/** An application of an organisation. */
export interface ApplicationRecord {
  readonly id: string;
  readonly organisationId: string;
  readonly name: string;
  /** Id of the user. */
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

type NewApplication = Pick<ApplicationRecord, "organisationId" | "name" | "createdBy">;

/** Applications of organisations; one of another organisation is treated as missing. */
export interface ApplicationStore {
  /** @throws Problem QUOTA_EXCEEDED, FORBIDDEN: the organisation was deleted meanwhile */
  readonly create: (application: NewApplication) => Promise<ApplicationRecord>;
  /** Newest first, without deleted ones. */
  readonly list: (organisationId: string, search: NameSearch) => Promise<Page<ApplicationRecord>>;
  readonly find: (organisationId: string, id: string) => Promise<ApplicationRecord | null>;
  /** Null when there is none. */
  readonly rename: (organisationId: string, id: string, name: string) => Promise<ApplicationRecord | null>;
  /** Deletes an application, with what it was granted, revokes its access keys and cancels its subscriptions. False when there was none. */
  readonly delete: (organisationId: string, id: string) => Promise<boolean>;
}

const COLUMNS = `a.id, a.organisation_id as "organisationId", a.name, a.created_by as "createdBy",
  ${selectMilliseconds("a.created_at")} as "createdAt"`;

/** The store of applications in PostgreSQL. */
export function createApplicationStore(
  database: Database,
  noteCancelled: NoteCancelled = () => undefined,
): ApplicationStore {
  return {
    create: (application) => database.transaction((run) => insertApplication(run, application)),
    list: (organisationId, search) => listApplications(database, organisationId, search),
    find: (organisationId, id) => findApplication(database, organisationId, id),
    rename: (organisationId, id, name) => renameApplication(database, { organisationId, id, name }),
    delete: async (organisationId, id) => {
      const cancelled = await deleteApplication(database, organisationId, id);
      if (cancelled !== null) noteCancelled(cancelled.ended);
      return cancelled !== null;
    },
  };
}

async function insertApplication(
  run: RunStatement,
  { organisationId, name, createdBy }: NewApplication,
): Promise<ApplicationRecord> {
  await requireOrganisation(run, organisationId);
  await requireRoom(run, "applications", {
    text: "from application where organisation_id = $1 and deleted_at is null",
    values: [organisationId],
  });
  const [row] = await run<ApplicationRecord>({
    text: `insert into application as a (id, organisation_id, name, created_by) values ($1, $2, $3, $4) returning ${COLUMNS}`,
    values: [createUuidV7(), organisationId, name, createdBy],
    audited: ["application.create"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

async function listApplications(
  database: Database,
  organisationId: string,
  { text, cursor, limit }: NameSearch,
): Promise<Page<ApplicationRecord>> {
  const [before] = decodeCursor(cursor, [isUuid]) ?? [null];
  const rows = await database.query<ApplicationRecord>({
    text: `select ${COLUMNS} from application a
      where a.organisation_id = $1 and a.deleted_at is null and ($2::uuid is null or a.id < $2)
        and ($4::text is null or position(lower($4) in lower(a.name)) > 0)
      order by a.id desc limit $3`,
    values: [organisationId, before, limit + 1, text ?? null],
    idempotent: true,
  });
  return cutPage(rows, limit, (row) => [row.id]);
}

async function findApplication(
  database: Database,
  organisationId: string,
  id: string,
): Promise<ApplicationRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<ApplicationRecord>({
    text: `select ${COLUMNS} from application a where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null`,
    values: [id, organisationId],
    idempotent: true,
  });
  return row ?? null;
}

async function renameApplication(
  database: Database,
  { organisationId, id, name }: Pick<ApplicationRecord, "organisationId" | "id" | "name">,
): Promise<ApplicationRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<ApplicationRecord>({
    text: `update application a set name = $3
      where a.id = $1 and a.organisation_id = $2 and a.deleted_at is null returning ${COLUMNS}`,
    values: [id, organisationId, name],
    idempotent: true,
    audited: ["application.update"],
  });
  return row ?? null;
}

/** Null: there is none. */
async function deleteApplication(
  database: Database,
  organisationId: string,
  id: string,
): Promise<Cancelled | null> {
  if (!isUuid(id)) return null;
  return await database.transaction(async (run) => {
    // A statement of its own: the one below sees keys and subscriptions that were made while the lock was waited for.
    await run({
      text: "select id from application where id = $1 and organisation_id = $2 for no key update",
      values: [id, organisationId],
    });
    // In one order: starts hold the rows of several subscriptions.
    const active = await run<{ id: string }>({
      text: `select b.id from subscription b join application a on a.id = b.application_id
        where a.id = $1 and a.organisation_id = $2 and b.cancelled_at is null order by b.id for no key update of b`,
      values: [id, organisationId],
    });
    const rows = await run({
      text: `with gone as (
          update application set deleted_at = now() where id = $1 and organisation_id = $2 and deleted_at is null returning id
        ), keys as (
          update access_key set revoked_at = now() where application_id in (select id from gone) and revoked_at is null
        ), subscriptions as (
          update subscription set cancelled_at = now() where application_id in (select id from gone) and cancelled_at is null
        ), grants as (
          delete from data_pool_grant where application_id in (select id from gone)
        ), webhooks as (
          delete from webhook where application_id in (select id from gone)
        ) select id from gone cross join lateral pg_notify('${ACCESS_CHANNEL}', 'application:' || gone.id)`,
      values: [id, organisationId],
      audited: ["application.delete"],
    });
    if (rows.length === 0) return null;
    return await cancelExecutionsOf(
      run,
      active.map((subscription) => subscription.id),
    );
  });
}
