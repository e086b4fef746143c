import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { endSignIns, takeOver } from "./take-over.ts";

/** The hash of a link's token to be stored. */
interface NewLinkRow {
  readonly purpose: "reset" | "verify";
  readonly userId: string;
  /** SHA-256 in base64url. */
  readonly tokenHash: string;
  /** In lower case; what the link says is said of this address only. */
  readonly email: string;
  readonly expiresInMinutes: number;
  /** An operator hands it on: it says nothing about whose the address is. Missing: it goes to the address. */
  readonly isByOperator?: true;
}

/** Links of users that work once. */
export interface LinkStore {
  /** From then on former links of the same purpose do not work; one that goes by mail leaves those of operators. */
  readonly create: (link: NewLinkRow) => Promise<void>;
  /** Whether the link can be used now. */
  readonly isOpen: (tokenHash: string, purpose: NewLinkRow["purpose"]) => Promise<boolean>;
  /**
   * Uses the link up, sets the password, and ends all sessions, in one transaction. Returns the user's address; null: it cannot be used.
   * `verifies`: links go by mail, so the address is theirs but where an operator made it; where that is the first proof, all that was made before ends.
   */
  readonly resetPassword: (change: {
    readonly tokenHash: string;
    readonly passwordHash: string;
    readonly verifies: boolean;
  }) => Promise<string | null>;
  /** Uses the link up. False: it cannot be used, is another user's, or the address has changed. */
  readonly verifyEmail: (tokenHash: string, userId: string) => Promise<boolean>;
}

/** The links in PostgreSQL. */
export function createLinkStore(database: Database): LinkStore {
  return {
    create: (link) => database.transaction((run) => insertLink(run, link)),
    isOpen: async (tokenHash, purpose) => {
      const rows = await database.query({
        text: `select 1 from one_time_token
          where token_hash = $1 and purpose = $2 and used_at is null and expires_at > now()`,
        values: [tokenHash, purpose],
        idempotent: true,
      });
      return rows.length > 0;
    },
    resetPassword: (change) => database.transaction((run) => resetPassword(run, change)),
    verifyEmail: (tokenHash, userId) => database.transaction((run) => verifyEmail(run, tokenHash, userId)),
  };
}

const USE = `update one_time_token set used_at = now()
  where token_hash = $1 and purpose = $2 and used_at is null and expires_at > now()`;

/** Stores a link, and ends former ones of the same purpose; but anybody may ask for one by mail, which ends none that an operator has made. */
export async function insertLink(run: RunStatement, link: NewLinkRow): Promise<void> {
  const { purpose, userId, tokenHash, email, expiresInMinutes, isByOperator = false } = link;
  await run({
    text: `delete from one_time_token where user_id = $1 and purpose = $2
      and ($3 or not coalesce((data ->> 'isByOperator')::boolean, false))`,
    values: [userId, purpose, isByOperator],
  });
  await run({
    text: `insert into one_time_token (token_hash, purpose, user_id, expires_at, data)
      values ($1, $2, $3, now() + make_interval(mins => $4), jsonb_build_object('email', $5::text, 'isByOperator', $6::boolean))
      returning user_id as id`,
    values: [tokenHash, purpose, userId, expiresInMinutes, email, isByOperator],
    audited: ["reset-link.issue"],
  });
}

async function verifyEmail(run: RunStatement, tokenHash: string, userId: string): Promise<boolean> {
  const verified = await run({
    text: `with used as (${USE} and user_id = $3 returning user_id, data), verified as (
        update platform_user u set email_verified_at = now() from used
        where u.id = used.user_id and u.email = used.data ->> 'email' returning u.id
      ) select id from verified`,
    values: [tokenHash, "verify", userId],
    audited: ["email.verify"],
  });
  return verified.length > 0;
}

async function resetPassword(
  run: RunStatement,
  { tokenHash, passwordHash, verifies }: Parameters<LinkStore["resetPassword"]>[0],
): Promise<string | null> {
  const [changed] = await run<{ id: string; email: string; isFirstProof: boolean }>({
    text: `with used as (
        ${USE} returning user_id, data, $4 and not coalesce((data ->> 'isByOperator')::boolean, false) as verifies
      ) update platform_user u set password_hash = $3,
        email_verified_at = case when verifies then coalesce(u.email_verified_at, now()) else u.email_verified_at end
      from used join platform_user former on former.id = used.user_id
      where u.id = former.id and u.disabled_at is null and u.email = used.data ->> 'email'
      returning u.id, u.email, verifies and former.email_verified_at is null as "isFirstProof"`,
    values: [tokenHash, "reset", passwordHash, verifies],
    audited: ["password.reset"],
  });
  if (changed === undefined) return null;
  noteAudit({ actorId: changed.id });
  // Whoever signed up with the address had not proven that it is theirs.
  if (changed.isFirstProof) await takeOver(run, changed.id);
  else await endSignIns(run, changed.id, null);
  await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${changed.id}`] });
  return changed.email;
}
