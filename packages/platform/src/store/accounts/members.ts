import type { Database } from "../../postgres/database.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";

/** A user in an organisation. */
export interface MemberRecord {
  readonly organisationId: string;
  readonly organisationName: string;
  readonly slug: string;
  readonly role: string;
  /** Whether it is the user's own organisation. */
  readonly isPersonal: boolean;
}

/** Which users belong to which organisations. */
export interface MemberStore {
  /** Without an organisation id, which must be a UUID: in the user's own. Null: there is no such organisation, or the user is not a member. */
  readonly find: (userId: string, organisationId?: string) => Promise<MemberRecord | null>;
  /** By name, the user's own first. */
  readonly listOfUser: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly MemberRecord[]>;
  readonly add: (organisationId: string, userId: string, role: string) => Promise<void>;
}

const COLUMNS = `o.id as "organisationId", o.name as "organisationName", o.slug, m.role,
  o.personal_of is not distinct from m.user_id as "isPersonal"`;

/** The members in PostgreSQL. */
export function createMemberStore(database: Database): MemberStore {
  return {
    find: (userId, organisationId) => findMember(database, userId, organisationId),
    listOfUser: (userId, { limit, offset }) =>
      database.query<MemberRecord>({
        text: `select ${COLUMNS} from member m join organisation o on o.id = m.organisation_id
          where m.user_id = $1 and o.deleted_at is null
          order by o.personal_of is not distinct from m.user_id desc, o.name, o.id limit $2 offset $3`,
        values: [userId, limit, offset],
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
  };
}

async function findMember(
  database: Database,
  userId: string,
  organisationId: string | undefined,
): Promise<MemberRecord | null> {
  const [row] = await database.query<MemberRecord>({
    name: "member-find",
    text: `select ${COLUMNS} from member m join organisation o on o.id = m.organisation_id
      where m.user_id = $1 and o.deleted_at is null
        and case when $2::uuid is null then o.personal_of = $1 else o.id = $2 end`,
    values: [userId, organisationId ?? null],
    idempotent: true,
  });
  return row ?? null;
}
