import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { USER_STATES } from "@platform/contract/platform-api/operator-accounts";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { appendEntry, noteAudit, noteUnchanged } from "../audit/trail.ts";
import type { AuditNote } from "../audit/trail.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { insertLink } from "./one-time-tokens.ts";
import { endSignIns } from "./take-over.ts";

/** A user as operators see them; times in milliseconds since the epoch. */
export interface OperatedUser {
  readonly id: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly name: string;
  readonly isOperator: boolean;
  readonly hasPassword: boolean;
  /** Organisations of which they are a member. */
  readonly organisations: number;
  readonly createdAt: number;
  /** To the minute; null: never. */
  readonly lastSeenAt: number | null;
  /** Null: is not disabled. */
  readonly disabledAt: number | null;
}

/** Which users are listed; all conditions hold. */
export interface UserFilter extends PageRequest {
  /** A part of the address or name, or the id. */
  readonly q?: string | undefined;
  readonly state?: (typeof USER_STATES)[number] | undefined;
}

/** A change of a user by an operator. */
interface ByOperator {
  readonly userId: string;
  /** Id of the operator. */
  readonly by: string;
}

/** Users of all organisations, for operators of the platform. */
export interface UserOperations {
  /** Newest first. */
  readonly list: (filter: UserFilter) => Promise<Page<OperatedUser>>;
  /** Null: there is no such user. */
  readonly find: (userId: string) => Promise<OperatedUser | null>;
  /**
   * Disables a user, and ends sessions, tokens, links and logins of programs, in one transaction; or enables one again. False: there is no
   * such user.
   *
   * @throws Problem CONFLICT for the last operator who is not disabled
   */
  readonly setDisabled: (change: ByOperator & { readonly disabled: boolean }) => Promise<boolean>;
  /** Stores a link to set a password, which says nothing about the address. Null: there is no such user. */
  readonly createResetLink: (
    link: ByOperator & { readonly tokenHash: string; readonly expiresInMinutes: number },
  ) => Promise<{ readonly email: string } | "disabled" | null>;
  /**
   * Makes a user an operator, or one no longer: for the server's command line, so with an entry of its own in the log of the user's own
   * organisation. By address in lower case. Null: there is no such user. `last operator`: nobody else is one that is not disabled.
   */
  readonly setOperator: (
    email: string,
    isOperator: boolean,
  ) => Promise<"changed" | "unchanged" | "last operator" | null>;
}

const COLUMNS = `u.id, u.email, u.email_verified_at is not null as "isEmailVerified", u.name, u.is_operator as "isOperator",
  u.password_hash is not null as "hasPassword",
  (select count(*)::int from member m join organisation o on o.id = m.organisation_id
    where m.user_id = u.id and o.deleted_at is null) as organisations,
  ${selectMilliseconds("u.created_at")} as "createdAt",
  (select ${selectMilliseconds("max(m.last_seen_at)")} from member m where m.user_id = u.id) as "lastSeenAt",
  ${selectMilliseconds("u.disabled_at")} as "disabledAt"`;

/** The same in PostgreSQL. */
export function createUserOperations(database: Database): UserOperations {
  return {
    list: (filter) => listUsers(database, filter),
    find: async (userId) => {
      if (!isUuid(userId)) return null;
      const [row] = await database.query<OperatedUser>({
        text: `select ${COLUMNS} from platform_user u where u.id = $1`,
        values: [userId],
        idempotent: true,
      });
      return row ?? null;
    },
    setDisabled: async (change) =>
      isUuid(change.userId) && (await database.transaction((run) => setDisabled(run, change))),
    createResetLink: async (link) =>
      isUuid(link.userId) ? await database.transaction((run) => createResetLink(run, link)) : null,
    setOperator: (email, isOperator) => database.transaction((run) => setOperator(run, email, isOperator)),
  };
}

async function listUsers(
  database: Database,
  { q, state, cursor, limit }: UserFilter,
): Promise<Page<OperatedUser>> {
  const [createdAt, id] = decodeCursor(cursor, [(key) => /^\d{1,15}$/u.test(key), isUuid]) ?? [];
  const rows = await database.query<OperatedUser>({
    text: `select ${COLUMNS} from platform_user u
      where ($1::float8 is null or (u.created_at, u.id) < (to_timestamp($1 / 1000)::timestamptz(3), $2::uuid))
        and ($3::text is null or position(lower($3) in u.email) > 0 or position(lower($3) in lower(u.name)) > 0
          or u.id::text = lower($3))
        and case $4::text when 'enabled' then u.disabled_at is null when 'disabled' then u.disabled_at is not null
          when 'operator' then u.is_operator else true end
      order by u.created_at desc, u.id desc limit $5`,
    values: [createdAt ?? null, id ?? null, q ?? null, state ?? null, limit + 1],
    idempotent: true,
  });
  return cutPage(rows, limit, (row) => [String(row.createdAt), row.id]);
}

interface Standing {
  readonly isDisabled: boolean;
  readonly email: string;
  /** Of the user, and of the operator. */
  readonly home: string | null;
  readonly byHome: string | null;
}

/** Locks the user, and says in which logs the change stands: the operator's own, and that of the user's own organisation. */
async function holdUser(run: RunStatement, { userId, by }: ByOperator): Promise<Standing | null> {
  const [found] = await run<Standing>({
    text: `select u.disabled_at is not null as "isDisabled", u.email,
        (select o.id from organisation o where o.personal_of = u.id) as home,
        (select o.id from organisation o where o.personal_of = $2) as "byHome"
      from platform_user u where u.id = $1 for no key update`,
    values: [userId, by],
  });
  return found ?? null;
}

function describeLogs({ home, byHome }: Standing): AuditNote {
  return { organisationId: byHome, ...(home === null || home === byHome ? {} : { alsoIn: home }) };
}

async function setDisabled(
  run: RunStatement,
  { userId, by, disabled }: ByOperator & { readonly disabled: boolean },
): Promise<boolean> {
  const operators = disabled ? await holdOperators(run) : [];
  const found = await holdUser(run, { userId, by });
  if (found === null) return false;
  if (operators.length > 0 && operators.every(({ id }) => id === userId.toLowerCase()))
    throw new Problem(
      "CONFLICT",
      "This user is the last operator who is not disabled; make another one first.",
    );
  if (found.isDisabled === disabled) {
    noteUnchanged();
    return true;
  }
  const changes = [{ field: "disabled", before: String(found.isDisabled), after: String(disabled) }];
  noteAudit({ ...describeLogs(found), changes });
  await run({
    text: "update platform_user set disabled_at = case when $2 then now() end where id = $1 returning id",
    values: [userId, disabled],
    audited: ["user.administer"],
  });
  if (disabled) await endEverything(run, userId);
  await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${userId}`] });
  return true;
}

/** What a user who is enabled again must not have: somebody else may have made it. */
async function endEverything(run: RunStatement, userId: string): Promise<void> {
  await endSignIns(run, userId, null);
  await run({
    text: "update personal_access_token set revoked_at = now() where user_id = $1 and revoked_at is null",
    values: [userId],
  });
}

async function createResetLink(
  run: RunStatement,
  link: Parameters<UserOperations["createResetLink"]>[0],
): Promise<{ readonly email: string } | "disabled" | null> {
  const { userId, tokenHash, expiresInMinutes } = link;
  const found = await holdUser(run, link);
  if (found === null) return null;
  if (found.isDisabled) return "disabled";
  const { email } = found;
  const changes = [{ field: "expiresInMinutes", before: null, after: String(expiresInMinutes) }];
  noteAudit({ ...describeLogs(found), changes });
  const row = { purpose: "reset", userId, tokenHash, email, expiresInMinutes, isByOperator: true } as const;
  await insertLink(run, row);
  return { email };
}

/** All who are not disabled, locked in one order: of two that end at the same time, in whichever way, one is the last. */
async function holdOperators(run: RunStatement): Promise<readonly { readonly id: string }[]> {
  return await run<{ id: string }>({
    text: "select id from platform_user where is_operator and disabled_at is null order by id for no key update",
  });
}

async function setOperator(run: RunStatement, email: string, isOperator: boolean) {
  const operators = await holdOperators(run);
  const [user] = await run<{ id: string; isOperator: boolean; home: string | null }>({
    text: `select u.id, u.is_operator as "isOperator", (select o.id from organisation o where o.personal_of = u.id) as home
      from platform_user u where u.email = $1 for no key update`,
    values: [email],
  });
  if (user === undefined) return null;
  if (user.isOperator === isOperator) return "unchanged";
  if (!isOperator && operators.every(({ id }) => id === user.id)) return "last operator";
  await run({
    text: "update platform_user set is_operator = $2 where id = $1",
    values: [user.id, isOperator],
  });
  await run({ text: "select pg_notify($1, $2)", values: [ACCOUNTS_CHANNEL, `user:${user.id}`] });
  await appendEntry(run, {
    organisationId: user.home,
    // Whoever may run the server's commands; who that is, is not known.
    actorKind: "operator",
    actorId: null,
    credential: null,
    action: isOperator ? "operator.grant" : "operator.revoke",
    target: [user.id],
    outcome: "done",
    code: null,
    ip: "",
    changes: [{ field: "operator", before: String(!isOperator), after: String(isOperator) }],
  });
  return "changed";
}
