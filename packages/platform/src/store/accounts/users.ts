import type { Database, RunStatement } from "../../postgres/database.ts";
import { isUniqueViolation } from "../base/columns.ts";
import { noteAudit } from "../audit/trail.ts";
import { insertExternalLogin } from "./external-logins.ts";
import type { ExternalLogin } from "./external-logins.ts";
import { acceptInvitation } from "./invitations.ts";
import type { Acceptance } from "./invitations.ts";
import { endSignIns } from "./take-over.ts";
import { insertToken } from "./personal-access-tokens.ts";
import type { NewTokenRow } from "./personal-access-tokens.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";

/** A user. */
export interface UserRecord {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly name: string;
  /** Runs the platform. */
  readonly isOperator: boolean;
}

/** What a user signs in with. */
interface UserSecret {
  readonly userId: string;
  /** Null: the user has no password. */
  readonly passwordHash: string | null;
}

/** A user to be stored, with an organisation of their own. */
interface NewUserRow {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  /** Null: signs in elsewhere. */
  readonly passwordHash: string | null;
  /** Default: false. */
  readonly isEmailVerified?: boolean;
  readonly isOperator: boolean;
  /** Its name is by default the user's. */
  readonly organisation: { readonly id: string; readonly slug: string; readonly name?: string };
}

/** What is stored together with a user. */
interface WithUser {
  readonly token?: NewTokenRow;
  readonly externalLogin?: ExternalLogin;
  /** Hash of the token of an invitation that the user accepts; when that fails, nothing is stored. */
  readonly invitationHash?: string;
}

/** The users of the platform. */
export interface UserStore {
  /** Whether there is any user. */
  readonly hasAny: () => Promise<boolean>;
  /** Stores the user, their own organisation, and what else there is, in one transaction. */
  readonly create: (
    user: NewUserRow,
    also?: WithUser,
  ) => Promise<"created" | "address taken" | Extract<Acceptance, string>>;
  /** Null: there is no such user, or they are disabled. */
  readonly find: (userId: string) => Promise<UserRecord | null>;
  /** By address in lower case; null as for `find`. */
  readonly findSecret: (email: string) => Promise<UserSecret | null>;
  readonly rename: (userId: string, name: string) => Promise<void>;
  /**
   * Replaces the password if it is still `former`, and ends all sessions but one (null: all), in one transaction. False when the
   * password has changed meanwhile.
   */
  readonly changePassword: (change: PasswordChange) => Promise<boolean>;
  /** Stores another hash of the same password. False when the stored one is not `former` any more. */
  readonly rehash: (change: Omit<PasswordChange, "keptSessionId">) => Promise<boolean>;
}

/** From which hash to which. */
interface PasswordChange {
  readonly userId: string;
  readonly former: string;
  readonly next: string;
  readonly keptSessionId: string | null;
}

/** The users in PostgreSQL. */
export function createUserStore(database: Database): UserStore {
  return {
    hasAny: async () => {
      const [row] = await database.query<{ found: boolean }>({
        text: "select exists (select 1 from platform_user) as found",
        idempotent: true,
      });
      return row?.found === true;
    },
    create: (user, also = {}) => createUser(database, user, also),
    find: async (userId) => {
      const [row] = await database.query<UserRecord>({
        text: `select id, email, email_verified_at is not null as "isEmailVerified", name, is_operator as "isOperator" from platform_user where id = $1 and disabled_at is null`,
        values: [userId],
        idempotent: true,
      });
      return row ?? null;
    },
    findSecret: async (email) => {
      const [row] = await database.query<UserSecret>({
        text: `select id as "userId", password_hash as "passwordHash" from platform_user
          where email = $1 and disabled_at is null`,
        values: [email],
        idempotent: true,
      });
      return row ?? null;
    },
    rename: async (userId, name) => {
      await database.query({
        text: "update platform_user set name = $2 where id = $1 returning id",
        values: [userId, name],
        idempotent: true,
        audited: ["user.update"],
      });
    },
    changePassword: (change) => changePassword(database, change),
    rehash: async ({ userId, former, next }) => {
      const rows = await database.query({
        text: "update platform_user set password_hash = $3 where id = $1 and password_hash = $2 returning id",
        values: [userId, former, next],
      });
      return rows.length > 0;
    },
  };
}

/** Ends the transaction that stores a user. */
class NotAccepted extends Error {
  readonly reason: Extract<Acceptance, string>;

  constructor(reason: Extract<Acceptance, string>) {
    super(reason);
    this.reason = reason;
  }
}

async function createUser(
  database: Database,
  user: NewUserRow,
  { token, externalLogin, invitationHash }: WithUser,
) {
  try {
    await database.transaction(async (run) => {
      await insertUser(run, user);
      if (token !== undefined) await insertToken(run, token);
      if (externalLogin !== undefined) await insertExternalLogin(run, externalLogin, user.id);
      if (invitationHash === undefined) return;
      const accepted = await acceptInvitation(run, invitationHash, { userId: user.id, email: user.email });
      if (typeof accepted === "string") throw new NotAccepted(accepted);
    });
    return "created";
  } catch (error) {
    if (error instanceof NotAccepted) return error.reason;
    if (isUniqueViolation(error, "platform_user_email")) return "address taken";
    throw error;
  }
}

async function insertUser(run: RunStatement, user: NewUserRow): Promise<void> {
  await run({
    text: `insert into platform_user (id, email, name, password_hash, is_operator, email_verified_at)
      values ($1, $2, $3, $4, $5, case when $6 then now() end)`,
    values: [
      user.id,
      user.email,
      user.name,
      user.passwordHash,
      user.isOperator,
      user.isEmailVerified ?? false,
    ],
  });
  await run({
    text: "insert into organisation (id, name, slug, personal_of) values ($1, $2, $3, $4)",
    values: [user.organisation.id, user.organisation.name ?? user.name, user.organisation.slug, user.id],
  });
  await run({
    text: "insert into member (organisation_id, user_id, role) values ($1, $2, 'owner') returning user_id as id",
    values: [user.organisation.id, user.id],
    audited: ["user.create"],
  });
  noteAudit({ actorId: user.id });
}

async function changePassword(database: Database, change: PasswordChange): Promise<boolean> {
  const { userId, former, next, keptSessionId } = change;
  return await database.transaction(async (run) => {
    const changed = await run({
      text: `update platform_user set password_hash = $3
        where id = $1 and password_hash = $2 and disabled_at is null returning id`,
      values: [userId, former, next],
      audited: ["password.change"],
    });
    if (changed.length === 0) return false;
    await endSignIns(run, userId, keptSessionId);
    await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${userId}`] });
    return true;
  });
}
