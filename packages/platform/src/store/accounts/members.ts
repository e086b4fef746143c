import { listRoles } from "@platform/contract/permissions";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { holdOrganisation } from "../base/hold-organisation.ts";

/** A user in an organisation. */
export interface MemberRecord {
  readonly organisationId: string;
  readonly organisationName: string;
  readonly slug: string;
  readonly role: string;
  /** Whether it is the user's own organisation. */
  readonly isPersonal: boolean;
}

/** A member as the others see them; times in milliseconds since the epoch. */
export interface ListedMember {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly joinedAt: number;
  /** To the minute; null: never. */
  readonly lastSeenAt: number | null;
}

/** A membership to be changed. */
export interface MemberChange {
  readonly organisationId: string;
  readonly userId: string;
  /** Who changes it: an owner, or the user themselves. */
  readonly by: string;
  /** Null: the membership ends. */
  readonly role: string | null;
}

/**
 * What became of it. `personal`: it is the user's own organisation. `not allowed`: who changes it is no owner any more.
 */
type MemberChangeResult = "changed" | "unknown" | "personal" | "last owner" | "not allowed";

/** Which of the organisations of a user are listed. */
export interface MembershipPage {
  readonly limit: number;
  readonly offset: number;
  /** A part of their name, whatever its case; missing: all. */
  readonly q?: string | undefined;
}

/** Which users belong to which organisations. */
export interface MemberStore {
  /**
   * Without an organisation id, which must be a UUID: in the user's own. Null: there is no such organisation, or the user is not a
   * member. Also notes that the user was seen there, at most once a minute.
   */
  readonly find: (userId: string, organisationId?: string) => Promise<MemberRecord | null>;
  /** By name, the user's own first. */
  readonly listOfUser: (userId: string, page: MembershipPage) => Promise<readonly MemberRecord[]>;
  readonly add: (organisationId: string, userId: string, role: string) => Promise<void>;
  /** Those who joined first come first. */
  readonly list: (
    organisationId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly ListedMember[]>;
  /** Null: there is no such member. */
  readonly findListed: (organisationId: string, userId: string) => Promise<ListedMember | null>;
  readonly change: (change: MemberChange) => Promise<MemberChangeResult>;
}

const COLUMNS = `o.id as "organisationId", o.name as "organisationName", o.slug, m.role,
  o.personal_of is not distinct from m.user_id as "isPersonal"`;

const LISTED = `select m.user_id as "userId", u.name, u.email, m.role, ${selectMilliseconds("m.joined_at")} as "joinedAt",
    ${selectMilliseconds("m.last_seen_at")} as "lastSeenAt"
  from member m join platform_user u on u.id = m.user_id`;

/** The members in PostgreSQL. */
export function createMemberStore(database: Database): MemberStore {
  return {
    find: (userId, organisationId) => findMember(database, userId, organisationId),
    listOfUser: (userId, { limit, offset, q }) =>
      database.query<MemberRecord>({
        text: `select ${COLUMNS} from member m join organisation o on o.id = m.organisation_id
          where m.user_id = $1 and o.deleted_at is null and ($4::text is null or position(lower($4) in lower(o.name)) > 0)
          order by o.personal_of is not distinct from m.user_id desc, o.name, o.id limit $2 offset $3`,
        values: [userId, limit, offset, q ?? null],
        idempotent: true,
      }),
    add: async (organisationId, userId, role) => {
      await database.query({
        text: `with added as (
            insert into member (organisation_id, user_id, role) values ($1, $2, $3) returning user_id
          ) select pg_notify('${ACCOUNTS_CHANNEL}', 'user:' || added.user_id) from added`,
        values: [organisationId, userId, role],
      });
    },
    list: (organisationId, { limit, offset }) =>
      database.query<ListedMember>({
        text: `${LISTED} where m.organisation_id = $1 order by m.joined_at, m.user_id limit $2 offset $3`,
        values: [organisationId, limit, offset],
        idempotent: true,
      }),
    findListed: async (organisationId, userId) => {
      if (!isUuid(userId)) return null;
      const [row] = await database.query<ListedMember>({
        text: `${LISTED} where m.organisation_id = $1 and m.user_id = $2`,
        values: [organisationId, userId],
        idempotent: true,
      });
      return row ?? null;
    },
    change: async (change) => {
      if (!isUuid(change.userId)) return "unknown";
      return await database.transaction((run) => changeMember(run, change));
    },
  };
}

async function findMember(
  database: Database,
  userId: string,
  organisationId: string | undefined,
): Promise<MemberRecord | null> {
  const [row] = await database.query<MemberRecord>({
    name: "member-find",
    text: `with found as (
        select ${COLUMNS}, m.last_seen_at from member m join organisation o on o.id = m.organisation_id
        where m.user_id = $1 and o.deleted_at is null
          and case when $2::uuid is null then o.personal_of = $1 else o.id = $2 end
      ), touched as (
        update member m set last_seen_at = now() from found
        where m.organisation_id = found."organisationId" and m.user_id = $1
          and (found.last_seen_at is null or found.last_seen_at < now() - interval '1 minute')
      ) select "organisationId", "organisationName", slug, role, "isPersonal" from found`,
    values: [userId, organisationId ?? null],
    idempotent: true,
  });
  return row ?? null;
}

interface Standing {
  readonly personalOf: string | null;
  /** Of the member to be changed; null: there is none. */
  readonly role: string | null;
  /** Of who changes it. */
  readonly byRole: string | null;
  readonly otherOwners: number;
}

/** The roles of users who may change what an organisation has. */
const EDITORS: readonly string[] = listRoles({ allows: "edit", audit: null });

/** Their parts are swept. */
const GIVE_UP_UPLOADS =
  "delete from pool_upload where organisation_id = $1 and created_by = $2 and stored_at is null";

/** Two who change the members of one organisation at once do so one after the other: else both could remove the last other owner. */
async function changeMember(run: RunStatement, change: MemberChange): Promise<MemberChangeResult> {
  const { organisationId, userId, role } = change;
  const standing = await readStanding(run, change);
  const refusal = refuseChange(change, standing);
  if (refusal !== null) return refusal;
  const target = "where organisation_id = $1 and user_id = $2";
  if (role === null) await run({ text: `delete from member ${target}`, values: [organisationId, userId] });
  else await run({ text: `update member set role = $3 ${target}`, values: [organisationId, userId, role] });
  // What they have begun would count for the organisation for a day, and nobody else sees it.
  if (role === null || !EDITORS.includes(role))
    await run({ text: GIVE_UP_UPLOADS, values: [organisationId, userId] });
  const changes = [{ field: "role", before: standing?.role ?? null, after: role }];
  noteAudit({ organisationId, target: [userId], changes });
  await run({
    text: "select pg_notify($1, $2)",
    values: [ACCOUNTS_CHANNEL, `user:${userId}`],
    audited: ["member.update", "member.remove", "member.leave"],
  });
  return "changed";
}

async function readStanding(
  run: RunStatement,
  { organisationId, userId, by }: MemberChange,
): Promise<Standing | null> {
  if (!(await holdOrganisation(run, organisationId))) return null;
  // A statement of its own, since it must see what was committed while the first one waited for its lock.
  const [row] = await run<Standing>({
    text: `select o.personal_of as "personalOf",
        (select m.role from member m where m.organisation_id = o.id and m.user_id = $2) as role,
        (select m.role from member m where m.organisation_id = o.id and m.user_id = $3) as "byRole",
        (select count(*)::int from member m join platform_user u on u.id = m.user_id
          where m.organisation_id = o.id and m.role = 'owner' and m.user_id <> $2 and u.disabled_at is null) as "otherOwners"
      from organisation o where o.id = $1`,
    values: [organisationId, userId, by],
  });
  return row ?? null;
}

function refuseChange(
  { userId, by, role }: MemberChange,
  standing: Standing | null,
): Exclude<MemberChangeResult, "changed"> | null {
  if (standing === null || standing.role === null) return "unknown";
  const isOwnLeave = userId === by && role === null;
  if (!isOwnLeave && standing.byRole !== "owner") return "not allowed";
  const staysOwner = role === "owner";
  if (standing.personalOf === userId && !staysOwner) return "personal";
  const isLast = standing.role === "owner" && !staysOwner && standing.otherOwners === 0;
  return isLast ? "last owner" : null;
}
