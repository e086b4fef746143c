import type { Database, RunStatement } from "../../postgres/database.ts";

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
    link: (login, userId) => database.transaction((run) => insertExternalLogin(run, login, userId)),
  };
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
