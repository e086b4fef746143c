import type { Database, RunStatement } from "../../postgres/database.ts";
import { takeOver } from "./take-over.ts";

/** A user as an OpenID provider names them. */
export interface ExternalLogin {
  readonly issuer: string;
  readonly subject: string;
}

/** Which users sign in elsewhere. */
export interface ExternalLoginStore {
  /** The user's id; null: unknown. A disabled user is found, and gets no session. */
  readonly find: (login: ExternalLogin) => Promise<string | null>;
  readonly link: (login: ExternalLogin, userId: string) => Promise<void>;
  /**
   * Gives an account whose address nobody had verified to its owner, without its password and all that was made before. False: the
   * address is verified meanwhile, or the account is an operator's, which nobody else gets.
   */
  readonly takeOver: (login: ExternalLogin, userId: string) => Promise<boolean>;
}

/** The logins in PostgreSQL. */
export function createExternalLoginStore(database: Database): ExternalLoginStore {
  return {
    find: async ({ issuer, subject }) => {
      const [row] = await database.query<{ userId: string }>({
        text: `select user_id as "userId" from external_login where issuer = $1 and subject = $2`,
        values: [issuer, subject],
        idempotent: true,
      });
      return row?.userId ?? null;
    },
    takeOver: (login, userId) => database.transaction((run) => takeOverBy(run, login, userId)),
    link: (login, userId) => database.transaction((run) => insertExternalLogin(run, login, userId)),
  };
}

async function takeOverBy(run: RunStatement, login: ExternalLogin, userId: string): Promise<boolean> {
  const taken = await run({
    text: `update platform_user set password_hash = null, email_verified_at = now()
      where id = $1 and email_verified_at is null and disabled_at is null and not is_operator returning id`,
    values: [userId],
  });
  if (taken.length === 0) return false;
  await takeOver(run, userId);
  await insertExternalLogin(run, login, userId);
  return true;
}

/** Stores a login; part of the transaction that stores its user. */
export async function insertExternalLogin(
  run: RunStatement,
  { issuer, subject }: ExternalLogin,
  userId: string,
): Promise<void> {
  await run({
    text: "insert into external_login (issuer, subject, user_id) values ($1, $2, $3)",
    values: [issuer, subject, userId],
  });
}
