import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { BOUNDS } from "../base/bounds.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";

/** A session of a browser; times in milliseconds since the epoch. */
export interface SessionRecord {
  readonly id: string;
  /** What the browser says it is. */
  readonly device: string;
  /** Address of the client at sign-in. */
  readonly ip: string;
  readonly createdAt: number;
  /** To the minute. */
  readonly lastSeenAt: number;
}

/** A session to be stored. */
interface NewSessionRow {
  readonly id: string;
  readonly userId: string;
  /** SHA-256 in base64url of what the cookie holds. */
  readonly tokenHash: string;
  readonly device: string;
  readonly ip: string;
  /** The password that was checked; a session for one that has changed since would outlive the change. Null: none was. */
  readonly passwordHash: string | null;
}

/** Whose session a cookie names. */
export interface ActiveSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly expiresAt: number;
  readonly isOperator: boolean;
}

/** Sessions of users: they end after a week without use, and 30 days after sign-in at the latest. */
export interface SessionStore {
  /** Where there are too many, the one that was not used for the longest time ends. False: the user is disabled, or the password has changed. */
  readonly create: (session: NewSessionRow) => Promise<boolean>;
  /** One statement, which also notes the use, at most once a minute. Null: unknown, ended, or of a disabled user. */
  readonly use: (tokenHash: string) => Promise<ActiveSession | null>;
  /** Those that have not ended, newest first. */
  readonly list: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly SessionRecord[]>;
  /** Addresses of clients from which the user with this address in lower case has signed in, until a month after those sessions. */
  readonly listClients: (email: string) => Promise<readonly string[]>;
  /** False when the user has no such session. */
  readonly revoke: (userId: string, id: string) => Promise<boolean>;
}

const IDLE = "interval '7 days'";
const LONGEST = "interval '30 days'";

/** The sessions in PostgreSQL. */
export function createSessionStore(database: Database): SessionStore {
  return {
    create: (session) => database.transaction((run) => insertSession(run, session)),
    use: (tokenHash) => useSession(database, tokenHash),
    list: (userId, { limit, offset }) =>
      database.query<SessionRecord>({
        text: `select id, device, ip, ${selectMilliseconds("created_at")} as "createdAt",
            ${selectMilliseconds("last_seen_at")} as "lastSeenAt"
          from session where user_id = $1 and revoked_at is null and expires_at > now()
          order by created_at desc, id desc limit $2 offset $3`,
        values: [userId, limit, offset],
        idempotent: true,
      }),
    listClients: async (email) => {
      const rows = await database.query<{ ip: string }>({
        text: "select distinct s.ip from session s join platform_user u on u.id = s.user_id where u.email = $1",
        values: [email],
        idempotent: true,
      });
      return rows.map(({ ip }) => ip);
    },
    revoke: (userId, id) => revokeSession(database, userId, id),
  };
}

async function insertSession(run: RunStatement, session: NewSessionRow): Promise<boolean> {
  const { id, userId, tokenHash, device, ip, passwordHash } = session;
  // Waits for a change of the password that is being made, and reads the condition again after it; sessions are made one after the other.
  const owner = await run({
    text: `select id from platform_user
      where id = $1 and disabled_at is null and ($2::text is null or password_hash = $2) for no key update`,
    values: [userId, passwordHash],
  });
  if (owner.length === 0) return false;
  await run({
    text: `with gone as (
        update session set revoked_at = now() where id in (
          select id from session where user_id = $1 and revoked_at is null and expires_at > now()
          order by last_seen_at desc, id desc offset ${BOUNDS.sessions.limit - 1}
        ) returning id
      ) select pg_notify('${ACCOUNTS_CHANNEL}', 'user:' || $1::text) from (select 1 from gone limit 1) as any_`,
    values: [userId],
  });
  await run({
    text: `insert into session (id, user_id, token_hash, device, ip, expires_at)
      values ($1, $2, $3, $4, $5, now() + ${IDLE}) returning id`,
    values: [id, userId, tokenHash, device, ip],
    audited: ["session.create", "external-sign-in.finish"],
  });
  return true;
}

async function useSession(database: Database, tokenHash: string): Promise<ActiveSession | null> {
  const [row] = await database.query<ActiveSession>({
    name: "session-use",
    text: `with found as (
        select s.id, s.user_id, s.expires_at, u.is_operator
        from session s join platform_user u on u.id = s.user_id
        where s.token_hash = $1 and s.revoked_at is null and s.expires_at > now() and u.disabled_at is null
      ), touched as (
        update session s set last_seen_at = now(), expires_at = least(now() + ${IDLE}, s.created_at + ${LONGEST})
        from found where s.id = found.id and s.last_seen_at < now() - interval '1 minute'
      ) select id as "sessionId", user_id as "userId", ${selectMilliseconds("expires_at")} as "expiresAt",
        is_operator as "isOperator" from found`,
    values: [tokenHash],
    idempotent: true,
  });
  return row ?? null;
}

async function revokeSession(database: Database, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await database.query({
    text: `with gone as (
        update session set revoked_at = now() where id = $2 and user_id = $1 and revoked_at is null returning user_id
      ) select user_id from gone cross join lateral pg_notify('${ACCOUNTS_CHANNEL}', 'user:' || gone.user_id)`,
    values: [userId, id],
    audited: ["session.end", "session.revoke"],
  });
  return rows.length > 0;
}
