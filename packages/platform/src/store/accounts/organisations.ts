import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { ACCESS_CHANNEL, ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { requireRoomForMembership } from "./invitations.ts";
import { isUniqueViolation } from "../base/columns.ts";

/** An organisation to be stored, with its first owner. */
interface NewOrganisationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly ownerId: string;
}

/** Why an organisation cannot be deleted at the moment; numbers of what is in the way. */
export interface DeletionObstacles {
  readonly isPersonal: boolean;
  /** Of all kinds, unfinished. */
  readonly executions: number;
  /** Unfinished. */
  readonly builds: number;
  /** Of other organisations, to its services. One that was ended counts while what it has started is unfinished. */
  readonly subscriptions: number;
}

/** Organisations that are no user's own from the start; `users.ts` makes those. */
export interface OrganisationStore {
  /** With its owner, in one transaction. @throws Problem QUOTA_EXCEEDED */
  readonly create: (organisation: NewOrganisationRow) => Promise<"created" | "slug taken">;
  /** null: it stays as it is. */
  readonly update: (organisation: {
    readonly id: string;
    readonly name: string | null;
    readonly slug: string | null;
  }) => Promise<"updated" | "slug taken" | "unknown">;
  /**
   * Deletes it, with its applications, keys, subscriptions, data pools and invitations, and retires its versions; executions stay until their
   * retention ends. Or says what is in the way. Null: there is no such organisation, or `by` is not its owner any more.
   */
  readonly delete: (id: string, by: string) => Promise<"deleted" | DeletionObstacles | null>;
}

/** The organisations in PostgreSQL. */
export function createOrganisationStore(database: Database): OrganisationStore {
  return {
    create: (organisation) =>
      unlessTaken(() => database.transaction((run) => insertOrganisation(run, organisation))),
    update: ({ id, name, slug }) =>
      unlessTaken(async () => {
        const rows = await database.query({
          text: `with changed as (
              update organisation set name = coalesce($2, name), slug = coalesce($3, slug) where id = $1 and deleted_at is null returning id
            ) select id from changed cross join lateral pg_notify('${ACCOUNTS_CHANNEL}', 'organisation:' || changed.id)`,
          values: [id, name, slug],
          audited: ["organization.update"],
        });
        return rows.length > 0 ? "updated" : "unknown";
      }),
    delete: (id, by) => database.transaction((run) => deleteOrganisation(run, id, by)),
  };
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T | "slug taken"> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, "organisation_slug")) return "slug taken";
    throw error;
  }
}

async function insertOrganisation(
  run: RunStatement,
  { id, name, slug, ownerId }: NewOrganisationRow,
): Promise<"created"> {
  // Two requests of one user count one after the other.
  await requireRoomForMembership(run, ownerId);
  await requireRoom(run, "ownedOrganisations", {
    text: `from member m join organisation o on o.id = m.organisation_id
      where m.user_id = $1 and m.role = 'owner' and o.deleted_at is null and o.personal_of is null`,
    values: [ownerId],
  });
  await run({
    text: "insert into organisation (id, name, slug) values ($1, $2, $3)",
    values: [id, name, slug],
  });
  await run({
    text: "insert into member (organisation_id, user_id, role) values ($1, $2, 'owner') returning organisation_id as id",
    values: [id, ownerId],
    audited: ["organization.create"],
  });
  // The first entry of the new organisation's log; before it, the request was the user's own.
  noteAudit({ organisationId: id });
  return "created";
}

async function deleteOrganisation(
  run: RunStatement,
  id: string,
  by: string,
): Promise<"deleted" | DeletionObstacles | null> {
  // Also waits for what is being made in the organisation: its rows refer to this one.
  const locked = await run({
    text: "select id from organisation where id = $1 and deleted_at is null for update",
    values: [id],
  });
  // Statements of their own, since they must see what was committed while the first one waited for its lock.
  const owners = await run({
    text: "select 1 from member where organisation_id = $1 and user_id = $2 and role = 'owner'",
    values: [id, by],
  });
  if (locked.length === 0 || owners.length === 0) return null;
  // Who subscribes holds these rows, in this order: a subscription is counted, or finds nothing to subscribe to. Likewise who stores a file, or starts.
  for (const text of CONTENDED) await run({ text, values: [id] });
  const obstacles = await readObstacles(run, id);
  const { isPersonal, executions, builds, subscriptions } = obstacles;
  if (isPersonal || executions + builds + subscriptions > 0) return obstacles;
  for (const text of DELETIONS) await run({ text, values: [id] });
  // Anything but an application or a service stands for any change.
  await run({ text: "select pg_notify($1, '')", values: [ACCESS_CHANNEL] });
  await run({
    text: "select pg_notify($1, $2)",
    values: [ACCOUNTS_CHANNEL, `organisation:${id}`],
    audited: ["organization.delete"],
  });
  return "deleted";
}

const APPLICATIONS = "select id from application where organisation_id = $1";

async function readObstacles(run: RunStatement, id: string): Promise<DeletionObstacles> {
  const [row] = await run<DeletionObstacles>({
    text: `select o.personal_of is not null as "isPersonal",
        (select count(*)::int from execution e where e.status in ('PENDING', 'RUNNING') and e.owner_id in (
          select $1::uuid union all select b.id from subscription b where b.application_id in (${APPLICATIONS}))) as executions,
        (select count(*)::int from build b join service s on s.key = b.service_key
          where s.organisation_id = $1 and b.status in ('PENDING', 'RUNNING')) as builds,
        (select count(*)::int from subscription b join service s on s.key = b.service_key
          where s.organisation_id = $1 and b.cancelled_at is null and b.application_id not in (${APPLICATIONS})
            and (b.ended_at is null or exists (
              select 1 from execution e where e.owner_id = b.id and e.status in ('PENDING', 'RUNNING')))) as subscriptions
      from organisation o where o.id = $1`,
    values: [id],
  });
  if (row === undefined) throw new Error("The organisation is locked, and has gone.");
  return row;
}

const CONTENDED = [
  "select id from application where organisation_id = $1 and deleted_at is null order by id for no key update",
  "select key from service where organisation_id = $1 order by key for no key update",
  "select id from data_pool where organisation_id = $1 and deleted_at is null order by id for no key update",
  `select b.id from subscription b where b.application_id in (select id from application where organisation_id = $1)
    and b.cancelled_at is null order by b.id for no key update`,
] as const;

const POOLS = "select id from data_pool where organisation_id = $1";

const DELETIONS = [
  "update organisation set deleted_at = now() where id = $1",
  `update access_key set revoked_at = now() where application_id in (${APPLICATIONS}) and revoked_at is null`,
  `update subscription set cancelled_at = now() where application_id in (${APPLICATIONS}) and cancelled_at is null`,
  "update application set deleted_at = now() where organisation_id = $1 and deleted_at is null",
  `delete from data_pool_grant where application_id in (${APPLICATIONS}) or pool_id in (${POOLS})`,
  "delete from schedule where organisation_id = $1",
  "delete from webhook where organisation_id = $1",
  `delete from data_pool_share where organisation_id = $1 or pool_id in (${POOLS})`,
  `update pool_file set ended_at = now() where pool_id in (${POOLS}) and ended_at is null`,
  "delete from pool_upload where (organisation_id = $1 or owner_id = $1) and stored_at is null",
  "update data_pool set deleted_at = now() where organisation_id = $1 and deleted_at is null",
  "update service set publication = null where organisation_id = $1 and publication is not null",
  `update version v set retired_at = now() from service s
    where s.key = v.service_key and s.organisation_id = $1 and v.retired_at is null`,
  `update invitation set revoked_at = now()
    where organisation_id = $1 and revoked_at is null and accepted_at is null`,
  `update variable set sealed = null, value = null, key_id = null, revision = revision + 1, changed_at = now()
    where organisation_id = $1 and num_nonnulls(sealed, value) > 0`,
] as const;
