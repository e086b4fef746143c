import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Problem } from "@platform/contract/problems";

/*
 * Hashes of passwords: scrypt (RFC 7914) in PHC string form, with 32 MB and three times the work of one pass, as OWASP's password
 * storage cheat sheet has it. Hashes of earlier releases (`salt:key` in hex, N=2^14, r=16, p=1) are verified, too; whoever signs in
 * with one gets a new hash.
 */

/** What a check of a password found. */
interface PasswordCheck {
  readonly isValid: boolean;
  /** The hash is of an earlier release: store a new one. */
  readonly isOutdated: boolean;
}

/** Makes and checks hashes of passwords. */
export interface Passwords {
  /** @throws Problem UNAVAILABLE when too many wait already, like `verify` */
  readonly hash: (password: string) => Promise<string>;
  /** Null stands for a user who is unknown or has no password: never valid, and the same work. */
  readonly verify: (stored: string | null, password: string) => Promise<PasswordCheck>;
}

/** Memory is 128 * 2^ln * r bytes, work 2^ln * r * p. */
interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

const CURRENT: Cost = { ln: 15, r: 8, p: 3 };
/** As much work as CURRENT with p=1. */
const FORMER: Cost = { ln: 14, r: 16, p: 1 };
/** What CURRENT does more than FORMER, so that the time of an answer does not tell a former hash from no user. */
const DIFFERENCE: Cost = { ...CURRENT, p: CURRENT.p - FORMER.p };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORMER_KEY_BYTES = 64;

/** Of the four threads that Node.js has for this and for files; a hash takes one for a tenth of a second. */
const MAX_RUNNING = 2;
const MAX_WAITING = 50;

/** Hashes on threads of this process, a few at a time. */
export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;
  const derive = async (password: string, salt: string | Buffer, cost: Cost, bytes: number) => {
    if (running >= MAX_RUNNING) {
      if (waiting.length >= MAX_WAITING)
        throw new Problem("UNAVAILABLE", "Too many passwords are being checked; try again in 5 seconds.", {
          headers: { "retry-after": "5" },
        });
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else running += 1;
    try {
      return await runScrypt(password, salt, cost, bytes);
    } finally {
      // The place is handed on, so that nobody can take it in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  const verifyCurrent = async (stored: StoredHash, password: string): Promise<boolean> =>
    timingSafeEqual(await derive(password, stored.salt, stored.cost, stored.key.length), stored.key);
  return {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES);
      return formatHash(salt, await derive(password, salt, CURRENT, KEY_BYTES));
    },
    verify: async (stored, password) => {
      const current = stored === null ? null : parseHash(stored);
      if (current !== null) {
        const isOutdated = formatCost(current.cost) !== formatCost(CURRENT);
        return { isValid: await verifyCurrent(current, password), isOutdated };
      }
      const former = stored === null ? null : parseFormerHash(stored);
      if (former === null) {
        await derive(password, randomBytes(SALT_BYTES), CURRENT, KEY_BYTES);
        return { isValid: false, isOutdated: false };
      }
      const key = await derive(password, former.salt, FORMER, FORMER_KEY_BYTES);
      await derive(password, former.salt, DIFFERENCE, KEY_BYTES);
      return { isValid: timingSafeEqual(key, former.key), isOutdated: true };
    },
  };
}

function runScrypt(password: string, salt: string | Buffer, cost: Cost, bytes: number): Promise<Buffer> {
  const { ln, r, p } = cost;
  const N = 2 ** ln;
  return new Promise((resolve, reject) => {
    // The same text can be typed in several forms (NIST SP 800-63B 5.1.1.2).
    scrypt(password.normalize("NFKC"), salt, bytes, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

interface StoredHash {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/u;

function parseHash(stored: string): StoredHash | null {
  const [, ln, r, p, salt, key] = PHC.exec(stored) ?? [];
  if (salt === undefined || key === undefined) return null;
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    key: Buffer.from(key, "base64"),
  };
}

function formatCost({ ln, r, p }: Cost): string {
  return `ln=${ln},r=${r},p=${p}`;
}

function formatHash(salt: Buffer, key: Buffer): string {
  return `$scrypt$${formatCost(CURRENT)}$${encode(salt)}$${encode(key)}`;
}

/** Base64 without padding. */
function encode(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

const FORMER_HASH = /^([0-9a-f]{32}):([0-9a-f]{128})$/u;

/** The salt is the text itself, not the bytes that it stands for. */
function parseFormerHash(stored: string): { readonly salt: string; readonly key: Buffer } | null {
  const [, salt, key] = FORMER_HASH.exec(stored) ?? [];
  if (salt === undefined || key === undefined) return null;
  return { salt, key: Buffer.from(key, "hex") };
}
