import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";

/** A token, without its value; times in milliseconds since the epoch. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  /** To the minute; null: not yet. */
  readonly lastUsedAt: number | null;
}

/** A token to be stored. */
export interface NewTokenRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** SHA-256 in base64url. */
  readonly tokenHash: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** The token that it is made with; null: none. */
  readonly parentId: string | null;
}

/** What a token that was sent belongs to. */
export interface ActiveToken {
  readonly tokenId: string;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly isOperator: boolean;
}

/** Personal access tokens of users. */
export interface TokenStore {
  readonly create: (token: NewTokenRow) => Promise<TokenRecord>;
  /** One statement, which also notes the use, at most once a minute. Null: unknown, revoked, expired, or of a disabled user. */
  readonly use: (tokenHash: string) => Promise<ActiveToken | null>;
  /** Those that are not revoked, newest first. */
  readonly list: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly TokenRecord[]>;
  /** False when the user has no such token. */
  readonly revoke: (userId: string, id: string) => Promise<boolean>;
}

const COLUMNS = `t.id, t.name, t.scopes, ${selectMilliseconds("t.created_at")} as "createdAt",
  ${selectMilliseconds("t.expires_at")} as "expiresAt", ${selectMilliseconds("t.last_used_at")} as "lastUsedAt"`;

/** The tokens in PostgreSQL. */
export function createTokenStore(database: Database): TokenStore {
  return {
    create: (token) => insertToken(database.query, token),
    use: (tokenHash) => useToken(database, tokenHash),
    list: (userId, { limit, offset }) =>
      database.query<TokenRecord>({
        text: `select ${COLUMNS} from personal_access_token t
          where t.user_id = $1 and t.revoked_at is null order by t.created_at desc, t.id desc limit $2 offset $3`,
        values: [userId, limit, offset],
        idempotent: true,
      }),
    revoke: (userId, id) => revokeToken(database, userId, id),
  };
}

/** Stores a token. */
export async function insertToken(run: RunStatement, token: NewTokenRow): Promise<TokenRecord> {
  const { id, userId, name, tokenHash, scopes, expiresAt, parentId } = token;
  const [row] = await run<TokenRecord>({
    text: `insert into personal_access_token as t (id, user_id, name, token_hash, scopes, expires_at, parent_id)
      values ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), $7) returning ${COLUMNS}`,
    values: [id, userId, name, tokenHash, scopes, expiresAt, parentId],
    audited: ["personal-access-token.create"],
  });
  if (row === undefined) throw new Error("The insert returned no row.");
  return row;
}

async function useToken(database: Database, tokenHash: string): Promise<ActiveToken | null> {
  const [row] = await database.query<ActiveToken>({
    name: "token-use",
    text: `with found as (
        select t.id, t.user_id, t.scopes, t.expires_at, u.is_operator
        from personal_access_token t join platform_user u on u.id = t.user_id
        where t.token_hash = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
          and u.disabled_at is null
      ), touched as (
        update personal_access_token t set last_used_at = now() from found
        where t.id = found.id and (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')
      ) select id as "tokenId", user_id as "userId", scopes, ${selectMilliseconds("expires_at")} as "expiresAt",
        is_operator as "isOperator" from found`,
    values: [tokenHash],
    idempotent: true,
  });
  return row ?? null;
}

async function revokeToken(database: Database, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await database.query({
    text: `with gone as (
        update personal_access_token set revoked_at = now()
        where id = $2 and user_id = $1 and revoked_at is null returning user_id
      ) select user_id from gone cross join lateral pg_notify('${ACCOUNTS_CHANNEL}', 'user:' || gone.user_id)`,
    values: [userId, id],
    audited: ["personal-access-token.revoke"],
  });
  return rows.length > 0;
}
