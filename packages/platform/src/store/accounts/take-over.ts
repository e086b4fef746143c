import type { RunStatement } from "../../postgres/database.ts";
import { ACCESS_CHANNEL, ACCOUNTS_CHANNEL } from "../base/channels.ts";

/**
 * Ends all ways in that somebody may have made who signed up with an address that is not theirs, at the moment at which its owner proves
 * it: sessions, tokens, logins of programs, other members, invitations, access keys, and what others may do with data pools. Of
 * organisations with another owner the user is a member no longer; the others are theirs alone. Part of the transaction that has changed, and so locked, the user.
 *
 * Sessions and tokens come first: a change that is being made with one waits for this transaction, and is refused after it (trail.ts).
 */
export async function takeOver(run: RunStatement, userId: string): Promise<void> {
  await endSignIns(run, userId, null);
  for (const text of ENDINGS) await run({ text, values: [userId] });
  // Anything but an application or a service stands for any change.
  await run({ text: "select pg_notify($1, '')", values: [ACCESS_CHANNEL] });
  await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${userId}`] });
}

/**
 * Ends all sessions of a user but one (null: all), logins of programs that were not handed out yet, and links to set a password: whoever
 * has read a mail could take the account back. Statements of their own after the one that has locked the user: they must see what was
 * made while that one waited.
 */
export async function endSignIns(
  run: RunStatement,
  userId: string,
  keptSessionId: string | null,
): Promise<void> {
  await run({
    text: `update session set revoked_at = now()
      where user_id = $1 and revoked_at is null and ($2::uuid is null or id <> $2)`,
    values: [userId, keptSessionId],
  });
  await run({
    text: "delete from device_login where user_id = $1 and redeemed_at is null",
    values: [userId],
  });
  await run({
    text: "delete from one_time_token where user_id = $1 and purpose = 'reset'",
    values: [userId],
  });
}

const OWN = "select organisation_id from member where user_id = $1";
const POOLS = `select id from data_pool where organisation_id in (${OWN})`;

const ENDINGS = [
  "update personal_access_token set revoked_at = now() where user_id = $1 and revoked_at is null",
  `select id from organisation where id in (${OWN}) order by id for no key update`,
  `delete from member m using organisation o where m.user_id = $1 and o.id = m.organisation_id
    and o.personal_of is distinct from $1 and (m.role <> 'owner' or exists (
      select 1 from member other join platform_user u on u.id = other.user_id
      where other.organisation_id = m.organisation_id and other.user_id <> $1 and other.role = 'owner' and u.disabled_at is null))`,
  `delete from member where user_id <> $1 and organisation_id in (${OWN})`,
  `update invitation set revoked_at = now()
    where organisation_id in (${OWN}) and accepted_at is null and revoked_at is null`,
  `update access_key set revoked_at = now() where revoked_at is null and application_id in (
    select id from application where organisation_id in (${OWN}))`,
  `${POOLS} order by id for no key update`,
  `delete from data_pool_share where pool_id in (${POOLS})`,
  `delete from data_pool_grant where pool_id in (${POOLS}) and application_id not in (
    select id from application where organisation_id in (${OWN}))`,
  `delete from pool_upload where pool_id in (${POOLS}) and organisation_id not in (${OWN}) and stored_at is null`,
] as const;
