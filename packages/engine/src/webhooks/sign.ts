import { createHmac, randomBytes } from "node:crypto";

/*
 * Signatures of Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric: `v1,` and HMAC-SHA256 in base64 over
 * `{webhook-id}.{webhook-timestamp}.{body}`.
 */

const PREFIX = "whsec_";
/** Length of a secret, in bytes; the specification allows 24 to 64. */
const SECRET_BYTES = 32;

/** A new secret, as its receiver keeps it: `whsec_` and base64. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Whether receivers can verify by it: `whsec_` and base64 of 24 to 64 bytes. */
export function isWebhookSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(text) ?? [];
  if (base64 === undefined) return false;
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 && bytes.length >= 24 && bytes.length <= 64;
}

/** What is signed. */
export interface SignedMessage {
  /** The same for each attempt: receivers tell repetitions by it. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of a message. @param secrets as `createWebhookSecret` makes them; each signs it, so that a receiver may know the one or the other */
export function signMessage(
  secrets: readonly string[],
  { id, timestamp, body }: SignedMessage,
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
