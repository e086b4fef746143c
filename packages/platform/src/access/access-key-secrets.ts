import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ACCESS_KEY_ID_PREFIX, ACCESS_KEY_SECRET_PREFIX } from "./token-kinds.ts";

const KEY_ID_BYTES = 16;
const SECRET_BYTES = 32;

/**
 * A new access key: `keyId`, its public half; `secret`, returned to the user once and never stored; `secretHash`, its SHA-256 in hex,
 * which is stored. Only characters that need no percent-encoding (RFC 6749 section 2.3.1), which many clients leave out.
 */
export function createAccessKeySecret(): Readonly<Record<"keyId" | "secret" | "secretHash", string>> {
  const keyId = ACCESS_KEY_ID_PREFIX + randomBytes(KEY_ID_BYTES).toString("hex");
  const secret = ACCESS_KEY_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  return { keyId, secret, secretHash: hashSecret(secret) };
}

/** SHA-256 in hex. A slow hash is not needed for 256 random bits and would only slow down the token endpoint. */
function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in constant time. */
export function isSecretOf(secretHash: string, secret: string): boolean {
  const expected = Buffer.from(secretHash, "hex");
  const given = Buffer.from(hashSecret(secret), "hex");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
