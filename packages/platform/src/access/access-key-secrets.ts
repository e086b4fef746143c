import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ACCESS_KEY_ID_PREFIX, ACCESS_KEY_SECRET_PREFIX } from "./token-kinds.ts";

const KEY_ID_BYTES = 16;
const SECRET_BYTES = 32;

export interface NewAccessKeySecret {
  readonly keyId: string;
  /** Shown once, never stored. */
  readonly secret: string;
  readonly secretHash: string;
}

/** Both halves are free of characters that RFC 6749 section 2.3.1 would have percent-encoded: clients forget to. */
export function createAccessKeySecret(): NewAccessKeySecret {
  const keyId = ACCESS_KEY_ID_PREFIX + randomBytes(KEY_ID_BYTES).toString("hex");
  const secret = ACCESS_KEY_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  return { keyId, secret, secretHash: hashSecret(secret) };
}

/** A plain SHA-256 in hex: 256 random bits cannot be guessed, so a slow hash would only slow the token endpoint. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** In constant time. */
export function isSecretOf(secretHash: string, secret: string): boolean {
  const expected = Buffer.from(secretHash, "hex");
  const given = Buffer.from(hashSecret(secret), "hex");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
