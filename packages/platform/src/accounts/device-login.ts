import { createHash, randomBytes, randomInt, randomUUID } from "node:crypto";
import { TOKEN_SCOPES } from "@platform/contract/permissions";
import { Problem } from "@platform/contract/problems";
import type { DeviceLoginStore, DeviceQuestion } from "../store/accounts/device-logins.ts";
import { prepareToken } from "./personal-access-tokens.ts";

/** The codes of a login that has begun. */
interface StartedDeviceLogin {
  readonly deviceCode: string;
  /** As the user sees and types it: two groups of four letters. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** The token of a login that was confirmed. */
interface DeviceToken {
  readonly token: string;
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
}

/** Logs in programs without a browser. */
export interface DeviceLogins {
  readonly startDeviceLogin: (client: {
    readonly name: string;
    readonly ip: string;
    /** What the token is for; valid ones. */
    readonly scopes: readonly string[];
  }) => Promise<StartedDeviceLogin>;
  /** @throws Problem AUTHORIZATION_PENDING, SLOW_DOWN, EXPIRED_TOKEN, ACCESS_DENIED */
  readonly finishDeviceLogin: (deviceCode: string) => Promise<DeviceToken>;
  /** What a signed-in user is asked, and what they show with their answer. Null: there is no such code that waits. */
  readonly askDeviceLogin: (
    userCode: string,
    user: { readonly userId: string; readonly passwordHash: string },
  ) => Promise<(DeviceQuestion & { readonly ticket: string }) | null>;
  /** False: the ticket is unknown, replaced or used, or the login expired. */
  readonly decideDeviceLogin: (ticket: string, decision: "approved" | "denied") => Promise<boolean>;
}

/** No vowels, so that codes are no words, and nothing that looks like another letter or a digit. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LETTERS = 8;
const SECRET_BYTES = 32;
const LIFE_SECONDS = 10 * 60;
const INTERVAL_SECONDS = 5;
const TOKEN_DAYS = 90;
const DAY_SECONDS = 24 * 60 * 60;

/** Manages logins of programs. `now`: milliseconds since the epoch. */
export function createDeviceLogins(store: DeviceLoginStore, now: () => number): DeviceLogins {
  return {
    startDeviceLogin: async ({ name, ip, scopes }) => {
      const [deviceCode, letters] = [createSecret(), createLetters()];
      await store.create({
        id: randomUUID(),
        deviceCodeHash: hash(deviceCode),
        userCodeHash: hash(letters),
        clientName: name,
        ip,
        scopes: [...new Set(scopes)],
        lifeSeconds: LIFE_SECONDS,
        intervalSeconds: INTERVAL_SECONDS,
      });
      const userCode = `${letters.slice(0, USER_CODE_LETTERS / 2)}-${letters.slice(USER_CODE_LETTERS / 2)}`;
      return { deviceCode, userCode, expiresInSeconds: LIFE_SECONDS, intervalSeconds: INTERVAL_SECONDS };
    },
    finishDeviceLogin: (deviceCode) => finish(store, deviceCode, now()),
    askDeviceLogin: async (userCode, { userId, passwordHash }) => {
      const ticket = createSecret();
      const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/gu, "");
      const claim = { userCodeHash: hash(letters), userId, passwordHash, ticketHash: hash(ticket) };
      const question = await store.claim(claim);
      return question && { ...question, ticket };
    },
    decideDeviceLogin: (ticket, decision) => store.decide(hash(ticket), decision),
  };
}

async function finish(store: DeviceLoginStore, deviceCode: string, now: number): Promise<DeviceToken> {
  const deviceCodeHash = hash(deviceCode);
  const answer = await store.ask(deviceCodeHash);
  switch (answer) {
    case "pending":
      throw new Problem("AUTHORIZATION_PENDING");
    case "too soon":
      throw new Problem("SLOW_DOWN");
    case "expired":
      throw new Problem("EXPIRED_TOKEN");
    case "denied":
      throw new Problem("ACCESS_DENIED");
    case "approved":
      return await redeem(store, deviceCodeHash, now);
    default:
      return answer satisfies never;
  }
}

async function redeem(store: DeviceLoginStore, deviceCodeHash: string, now: number): Promise<DeviceToken> {
  let token = "";
  const login = await store.redeem(deviceCodeHash, ({ userId, clientName: name, scopes }) => {
    const known = TOKEN_SCOPES.filter((scope) => scopes.includes(scope));
    const prepared = prepareToken(userId, { name, scopes: known, expiresInDays: TOKEN_DAYS }, now);
    ({ token } = prepared);
    return prepared.row;
  });
  if (login === null) throw new Problem("EXPIRED_TOKEN");
  return { token, scopes: login.scopes, expiresInSeconds: TOKEN_DAYS * DAY_SECONDS };
}

function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function createLetters(): string {
  return Array.from({ length: USER_CODE_LETTERS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
}

function hash(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}
