import { createHash, randomBytes } from "node:crypto";

/** The secret of a link that works once, and the form in which it is stored. */
interface LinkToken {
  readonly token: string;
  /** SHA-256 in base64url. */
  readonly hash: string;
}

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/u;

/** A new one: 256 random bits, which cannot be guessed. */
export function createLinkToken(): LinkToken {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, hash: hash(token) };
}

/** Null: it cannot be the token of a link. */
export function hashLinkToken(token: string): string | null {
  return TOKEN.test(token) ? hash(token) : null;
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
