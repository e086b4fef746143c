import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { requireRoom } from "../base/bounds.ts";
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
  /** Null: the token that it is made with was revoked meanwhile. @throws Problem QUOTA_EXCEEDED */
  readonly create: (token: NewTokenRow) => Promise<TokenRecord | null>;
  /** One statement, which also notes the use, at most once a minute. Null: unknown, revoked, expired, or of a disabled user. */
  readonly use: (tokenHash: string) => Promise<ActiveToken | null>;
  /** Those that are not revoked, newest first. */
  readonly list: (
    userId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly TokenRecord[]>;
  /** Also revokes the tokens that were made with it, and with those. False when the user has no such token. */
  readonly revoke: (userId: string, id: string) => Promise<boolean>;
}

const COLUMNS = `t.id, t.name, t.scopes, ${selectMilliseconds("t.created_at")} as "createdAt",
  ${selectMilliseconds("t.expires_at")} as "expiresAt", ${selectMilliseconds("t.last_used_at")} as "lastUsedAt"`;

/** The tokens in PostgreSQL. */
export function createTokenStore(database: Database): TokenStore {
  return {
    create: (token) => database.transaction((run) => createToken(run, token)),
    use: (tokenHash) => useToken(database, tokenHash),
    list: (userId, { limit, offset }) =>
      database.query<TokenRecord>({
        text: `select ${COLUMNS} from personal_access_token t
          where t.user_id = $1 and t.revoked_at is null order by t.created_at desc, t.id desc limit $2 offset $3`,
        values: [userId, limit, offset],
        idempotent: true,
      }),
    revoke: async (userId, id) =>
      isUuid(id) && (await database.transaction((run) => revokeToken(run, userId, id))),
  };
}

/** Stores a token of a user who has room for one more. @throws Problem QUOTA_EXCEEDED */
export async function createToken(run: RunStatement, token: NewTokenRow): Promise<TokenRecord | null> {
  // Two requests of one user count one after the other.
  await run({
    text: "select id from platform_user where id = $1 for no key update",
    values: [token.userId],
  });
  await requireRoom(run, "tokens", {
    text: `from personal_access_token
      where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    values: [token.userId],
  });
  return await insertToken(run, token);
}

/** Stores a token. Null: the one that it is made with was revoked meanwhile, which "for share" waits for. */
export async function insertToken(run: RunStatement, token: NewTokenRow): Promise<TokenRecord | null> {
  const { id, userId, name, tokenHash, scopes, expiresAt, parentId } = token;
  const [row] = await run<TokenRecord>({
    text: `with parent as (
        select id from personal_access_token where id = $7 and revoked_at is null for share
      ) insert into personal_access_token as t (id, user_id, name, token_hash, scopes, expires_at, parent_id)
        select $1::uuid, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), $7
        where $7::uuid is null or exists (select 1 from parent) returning ${COLUMNS}`,
    values: [id, userId, name, tokenHash, scopes, expiresAt, parentId],
    audited: ["personal-access-token.create"],
  });
  return row ?? null;
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

async function revokeToken(run: RunStatement, userId: string, id: string): Promise<boolean> {
  const revoked = await run({
    text: `update personal_access_token set revoked_at = now()
      where id = $2 and user_id = $1 and revoked_at is null returning id`,
    values: [userId, id],
    audited: ["personal-access-token.revoke"],
  });
  if (revoked.length === 0) return false;
  // Until there are none: one may have been made while the last statement waited for its parent.
  while ((await revokeOffspring(run, userId, id)) > 0);
  await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${userId}`] });
  return true;
}

/** Revokes what was made with the token, and with that; returns how many. */
async function revokeOffspring(run: RunStatement, userId: string, id: string): Promise<number> {
  const revoked = await run({
    text: `with recursive family as (
        select $2::uuid as id
        union select t.id from personal_access_token t join family on t.parent_id = family.id where t.user_id = $1
      ) update personal_access_token t set revoked_at = now() from family
        where t.id = family.id and t.revoked_at is null returning t.id`,
    values: [userId, id],
  });
  return revoked.length;
}
