import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const KEY_ID_PREFIX = "plat_key_";
const SECRET_PREFIX = "plat_secret_";
const KEY_ID_BYTES = 16;
const SECRET_BYTES = 32;

/**
 * A new access key: `keyId`, its public half; `secret`, returned to the user once and never stored; `secretHash`, its SHA-256 in hex,
 * which is stored. Only characters that need no percent-encoding (RFC 6749 section 2.3.1), which many clients leave out.
 */
export function createAccessKeySecret(): Readonly<Record<"keyId" | "secret" | "secretHash", string>> {
  const keyId = KEY_ID_PREFIX + randomBytes(KEY_ID_BYTES).toString("hex");
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
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

const KEY_ID = new RegExp(`^${KEY_ID_PREFIX}[0-9a-f]{32}$`);

/** Whether a text has the form of an access key id; says nothing about its existence. */
export function isAccessKeyId(text: string): boolean {
  return KEY_ID.test(text);
}
