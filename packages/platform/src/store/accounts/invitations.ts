import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { ACCOUNTS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { holdOrganisation } from "../base/hold-organisation.ts";

/** An invitation to be stored. */
interface NewInvitationRow {
  readonly id: string;
  readonly organisationId: string;
  /** In lower case; null: for whoever has the link. */
  readonly email: string | null;
  readonly role: string;
  /** SHA-256 in base64url of the link's token. */
  readonly tokenHash: string;
  readonly invitedBy: string;
  readonly expiresInDays: number;
}

/** An invitation that is open, or was declined; times in milliseconds since the epoch. */
export interface InvitationRecord {
  readonly id: string;
  readonly email: string | null;
  readonly role: string;
  /** Name of the user who made it. */
  readonly invitedBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When its reader declined it; null: it is open. */
  readonly declinedAt: number | null;
}

/** What the reader of a link is shown. */
export interface InvitationView extends Pick<InvitationRecord, "role" | "invitedBy" | "expiresAt"> {
  readonly organisationName: string;
  /** It can be accepted now. */
  readonly isOpen: boolean;
}

/** Who accepts. */
export interface InvitationGuest {
  readonly userId: string;
  /** In lower case. */
  readonly email: string;
}

/** Where the guest is a member now, or why not. `closed`: used, declined, revoked, expired, or made by who is no owner any more. */
export type Acceptance =
  | { readonly organisationId: string }
  | "unknown"
  | "closed"
  | "another address"
  | "member already";

/** Invitations to organisations. */
export interface InvitationStore {
  /** @throws Problem QUOTA_EXCEEDED */
  readonly create: (
    invitation: NewInvitationRow,
  ) => Promise<InvitationRecord | "member already" | "not allowed">;
  /** Open ones, and those that were declined until they would have expired; newest first. */
  readonly list: (
    organisationId: string,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly InvitationRecord[]>;
  /** One that was declined leaves the list. False: the organisation has no such invitation in its list. */
  readonly revoke: (organisationId: string, id: string) => Promise<boolean>;
  /** By the hash of the link's token. Null: there is none. */
  readonly view: (tokenHash: string) => Promise<InvitationView | null>;
  /** @throws Problem QUOTA_EXCEEDED */
  readonly accept: (tokenHash: string, guest: InvitationGuest) => Promise<Acceptance>;
  /** Nobody can accept it any more. */
  readonly decline: (tokenHash: string) => Promise<"declined" | "unknown" | "closed">;
}

/** An invitation speaks for who made it, so it ends with their role: nobody may invite to more than they have themselves. */
const OPEN = `i.accepted_at is null and i.revoked_at is null and i.expires_at > now() and o.deleted_at is null
  and exists (select 1 from member m join platform_user u on u.id = m.user_id
    where m.organisation_id = i.organisation_id and m.user_id = i.invited_by and m.role = 'owner' and u.disabled_at is null)`;

const FROM = `from invitation i join organisation o on o.id = i.organisation_id join platform_user inviter on inviter.id = i.invited_by`;

const SELECT = `select i.id, i.email, i.role, inviter.name as "invitedBy", ${selectMilliseconds("i.created_at")} as "createdAt",
    ${selectMilliseconds("i.expires_at")} as "expiresAt", ${selectMilliseconds("i.declined_at")} as "declinedAt" ${FROM}`;

const DECLINED = `i.declined_at is not null and i.expires_at > now()`;

/** The invitations in PostgreSQL. */
export function createInvitationStore(database: Database): InvitationStore {
  return {
    create: (invitation) => database.transaction((run) => insertInvitation(run, invitation)),
    list: (organisationId, { limit, offset }) =>
      database.query<InvitationRecord>({
        text: `${SELECT} where i.organisation_id = $1 and (${DECLINED} or (${OPEN})) order by i.created_at desc, i.id desc limit $2 offset $3`,
        values: [organisationId, limit, offset],
        idempotent: true,
      }),
    revoke: async (organisationId, id) => {
      if (!isUuid(id)) return false;
      const rows = await database.query({
        text: `update invitation set revoked_at = coalesce(revoked_at, now()), declined_at = null
          where id = $2 and organisation_id = $1 and accepted_at is null and (revoked_at is null or declined_at is not null)
          returning id`,
        values: [organisationId, id],
        audited: ["invitation.revoke"],
      });
      return rows.length > 0;
    },
    view: async (tokenHash) => {
      const [row] = await database.query<InvitationView>({
        text: `select i.role, inviter.name as "invitedBy", ${selectMilliseconds("i.expires_at")} as "expiresAt",
            o.name as "organisationName", ${OPEN} as "isOpen" ${FROM} where i.token_hash = $1`,
        values: [tokenHash],
        idempotent: true,
      });
      return row ?? null;
    },
    accept: (tokenHash, guest) => database.transaction((run) => acceptInvitation(run, tokenHash, guest)),
    decline: (tokenHash) => database.transaction((run) => declineInvitation(run, tokenHash)),
  };
}

async function insertInvitation(
  run: RunStatement,
  invitation: NewInvitationRow,
): Promise<InvitationRecord | "member already" | "not allowed"> {
  const { id, organisationId, email, role, tokenHash, invitedBy, expiresInDays } = invitation;
  // Waits for a change of the inviter's role that is being made; two invitations count one after the other.
  if (!(await holdOrganisation(run, organisationId))) return "not allowed";
  const members = await run({
    text: `select 1 from member m join platform_user u on u.id = m.user_id
      where m.organisation_id = $1 and u.email = $2`,
    values: [organisationId, email],
  });
  if (members.length > 0) return "member already";
  await requireRoom(run, "invitations", {
    text: `${FROM} where i.organisation_id = $1 and ${OPEN}`,
    values: [organisationId],
  });
  await run({
    text: `insert into invitation (id, organisation_id, email, role, token_hash, invited_by, expires_at)
      select $1::uuid, m.organisation_id, $3, $4, $5, m.user_id, now() + make_interval(days => $7)
      from member m where m.organisation_id = $2 and m.user_id = $6 and m.role = 'owner'`,
    values: [id, organisationId, email, role, tokenHash, invitedBy, expiresInDays],
  });
  noteAudit({ changes: [{ field: "role", before: null, after: role }] });
  // Finds the invitation only if it was made.
  const [row] = await run<InvitationRecord>({
    text: `${SELECT} where i.id = $1`,
    values: [id],
    audited: ["invitation.create"],
  });
  return row ?? "not allowed";
}

/** Locks the user. @throws Problem QUOTA_EXCEEDED */
export async function requireRoomForMembership(run: RunStatement, userId: string): Promise<void> {
  await run({ text: "select id from platform_user where id = $1 for no key update", values: [userId] });
  await requireRoom(run, "memberships", {
    text: `from member m join organisation o on o.id = m.organisation_id
      where m.user_id = $1 and o.deleted_at is null`,
    values: [userId],
  });
}

/** Makes the guest a member and uses the invitation up; part of the transaction that signs them up, too. */
export async function acceptInvitation(
  run: RunStatement,
  tokenHash: string,
  { userId, email }: InvitationGuest,
): Promise<Acceptance> {
  // The organisation first, as everywhere: it is locked while members change, so the inviter's role stays what it is.
  await run({
    text: `select o.id from organisation o join invitation i on i.organisation_id = o.id
      where i.token_hash = $1 for no key update of o`,
    values: [tokenHash],
  });
  // It can be revoked before or after this transaction, but not meanwhile.
  await run({
    text: "select id from invitation where token_hash = $1 for no key update",
    values: [tokenHash],
  });
  const [found] = await run<{
    id: string;
    organisationId: string;
    email: string | null;
    role: string;
    isOpen: boolean;
    isMember: boolean;
  }>({
    text: `select i.id, i.organisation_id as "organisationId", i.email, i.role, ${OPEN} as "isOpen",
        exists (select 1 from member m where m.organisation_id = i.organisation_id and m.user_id = $2) as "isMember"
      ${FROM} where i.token_hash = $1`,
    values: [tokenHash, userId],
  });
  if (found === undefined) return "unknown";
  if (!found.isOpen) return "closed";
  if (found.email !== null && found.email !== email) return "another address";
  if (found.isMember) return "member already";
  const { organisationId, id, role } = found;
  await requireRoom(run, "members", {
    text: "from member where organisation_id = $1",
    values: [organisationId],
  });
  await requireRoomForMembership(run, userId);
  await run({
    text: "update invitation set accepted_at = now(), accepted_by = $2 where id = $1",
    values: [id, userId],
  });
  await run({
    text: "insert into member (organisation_id, user_id, role) values ($1, $2, $3)",
    values: [organisationId, userId, role],
  });
  const changes = [{ field: "role", before: null, after: role }];
  noteAudit({ organisationId, target: [id], changes });
  await run({
    text: "select pg_notify($1, $2)",
    values: [ACCOUNTS_CHANNEL, `user:${userId}`],
    audited: ["invitation.accept"],
  });
  return { organisationId };
}

async function declineInvitation(
  run: RunStatement,
  tokenHash: string,
): Promise<"declined" | "unknown" | "closed"> {
  // It can be accepted or revoked before or after this transaction, but not meanwhile.
  await run({
    text: "select id from invitation where token_hash = $1 for no key update",
    values: [tokenHash],
  });
  const [found] = await run<{ id: string; organisationId: string; isOpen: boolean }>({
    text: `select i.id, i.organisation_id as "organisationId", ${OPEN} as "isOpen" ${FROM} where i.token_hash = $1`,
    values: [tokenHash],
  });
  if (found === undefined) return "unknown";
  if (!found.isOpen) return "closed";
  const { organisationId, id } = found;
  noteAudit({ organisationId, target: [id] });
  await run({
    text: "update invitation set revoked_at = now(), declined_at = now() where id = $1 returning id",
    values: [id],
    audited: ["invitation.decline"],
  });
  return "declined";
}
