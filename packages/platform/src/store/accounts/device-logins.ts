import type { Database } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { createToken } from "./personal-access-tokens.ts";
import type { NewTokenRow } from "./personal-access-tokens.ts";

/** A login to be stored; hashes are SHA-256 in base64url. */
interface NewDeviceLogin {
  readonly id: string;
  readonly deviceCodeHash: string;
  readonly userCodeHash: string;
  readonly clientName: string;
  readonly ip: string;
  readonly scopes: readonly string[];
  readonly lifeSeconds: number;
  readonly intervalSeconds: number;
}

/** What a user is asked to confirm. */
export interface DeviceQuestion {
  readonly clientName: string;
  readonly ip: string;
  readonly scopes: readonly string[];
}

/** A login that was confirmed and not handed out before. */
interface ConfirmedLogin {
  readonly userId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
}

/** What a program is answered that asks for its token. */
type DeviceAnswer = "pending" | "too soon" | "expired" | "denied" | "approved";

/** Logins of programs without a browser. */
export interface DeviceLoginStore {
  readonly create: (login: NewDeviceLogin) => Promise<void>;
  /** Notes that the program has asked; each question that comes too soon makes the interval longer. */
  readonly ask: (deviceCodeHash: string) => Promise<DeviceAnswer>;
  /**
   * Hands out a confirmed login once: stores its token in the same transaction. Null: there is none, or the user is disabled.
   *
   * @throws Problem QUOTA_EXCEEDED
   */
  readonly redeem: (
    deviceCodeHash: string,
    prepare: (login: ConfirmedLogin) => NewTokenRow,
  ) => Promise<ConfirmedLogin | null>;
  /** Who is about to decide, with what they show later; replaces who was before. Null: no such code, or it is decided or expired. */
  readonly claim: (claim: DeviceClaim) => Promise<DeviceQuestion | null>;
  /** False: no such ticket, or the login is decided or expired. */
  readonly decide: (ticketHash: string, decision: "approved" | "denied") => Promise<boolean>;
}

interface DeviceClaim {
  readonly userCodeHash: string;
  readonly userId: string;
  /** The password that was checked; a login by one that has changed since would outlive the change. */
  readonly passwordHash: string;
  readonly ticketHash: string;
}

/** The logins in PostgreSQL. */
export function createDeviceLoginStore(database: Database): DeviceLoginStore {
  return {
    create: async (login) => {
      const { id, deviceCodeHash, userCodeHash, clientName, ip, scopes, lifeSeconds, intervalSeconds } =
        login;
      await database.query({
        text: `insert into device_login
            (id, device_code_hash, user_code_hash, client_name, ip, scopes, expires_at, interval_seconds)
          values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), $8)`,
        values: [id, deviceCodeHash, userCodeHash, clientName, ip, scopes, lifeSeconds, intervalSeconds],
      });
    },
    ask: (deviceCodeHash) => ask(database, deviceCodeHash),
    redeem: (deviceCodeHash, prepare) => redeem(database, deviceCodeHash, prepare),
    claim: async ({ userCodeHash, userId, passwordHash, ticketHash }) => {
      const [row] = await database.query<DeviceQuestion>({
        text: `with owner as (
            select id from platform_user where id = $2 and password_hash = $4 and disabled_at is null for share
          ) update device_login d set user_id = owner.id, ticket_hash = $3 from owner
          where d.user_code_hash = $1 and d.decision is null and d.expires_at > now()
          returning d.client_name as "clientName", d.ip, d.scopes`,
        values: [userCodeHash, userId, ticketHash, passwordHash],
      });
      return row ?? null;
    },
    decide: async (ticketHash, decision) => {
      const rows = await database.query({
        text: `update device_login set decision = $2
          where ticket_hash = $1 and decision is null and expires_at > now() returning id`,
        values: [ticketHash, decision],
      });
      return rows.length > 0;
    },
  };
}

async function ask(database: Database, deviceCodeHash: string): Promise<DeviceAnswer> {
  const [row] = await database.query<{ answer: DeviceAnswer }>({
    text: `with found as (
        select id, asked_at + make_interval(secs => interval_seconds) > now() as is_soon from device_login
        where device_code_hash = $1 and redeemed_at is null and expires_at > now() for update
      ) update device_login d set asked_at = now(),
          interval_seconds = d.interval_seconds + case when found.is_soon then 5 else 0 end
        from found where d.id = found.id
        returning case when found.is_soon then 'too soon' else coalesce(d.decision, 'pending') end as answer`,
    values: [deviceCodeHash],
  });
  return row?.answer ?? "expired";
}

async function redeem(
  database: Database,
  deviceCodeHash: string,
  prepare: (login: ConfirmedLogin) => NewTokenRow,
): Promise<ConfirmedLogin | null> {
  return await database.transaction(async (run) => {
    // The user first, as everywhere: who changes the password ends logins after it.
    await run({
      text: `select u.id from platform_user u join device_login d on d.user_id = u.id
        where d.device_code_hash = $1 for no key update of u`,
      values: [deviceCodeHash],
    });
    const [login] = await run<ConfirmedLogin>({
      text: `update device_login d set redeemed_at = now() from platform_user u
        where d.device_code_hash = $1 and d.decision = 'approved' and d.redeemed_at is null and d.expires_at > now()
          and u.id = d.user_id and u.disabled_at is null
        returning d.user_id as "userId", d.client_name as "clientName", d.scopes`,
      values: [deviceCodeHash],
      audited: ["device-login.finish"],
    });
    if (login === undefined) return null;
    const token = prepare(login);
    // Where there is no room the login stays: the program asks again, and gets its token when there is.
    await createToken(run, token);
    // The request has no caller: who it is for is known from here on.
    noteAudit({ actorId: login.userId, target: [token.id] });
    return login;
  });
}
