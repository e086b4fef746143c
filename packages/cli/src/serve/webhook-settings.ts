import { createWebhookSecret, isWebhookSecret } from "@platform/engine/webhooks/sign";
import { createAddressPolicy } from "@platform/engine/webhooks/outside-addresses";
import type { AddressPolicy } from "@platform/engine/webhooks/outside-addresses";
import { createUsageError } from "../base/errors.ts";

/** How the URLs that starts name are called. */
export interface WebhookSettings {
  /** `whsec_` and base64. */
  readonly secret: string;
  /** Whether the user has given it, and so knows it. */
  readonly isGiven: boolean;
  readonly isAllowed: AddressPolicy;
}

/** The machine is the developer's own, whose receivers are tried out on it. Its other addresses, and those of its network, are not. */
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/**
 * The settings of `--webhook-secret` and `--webhook-open`; without the first a new secret is made.
 *
 * @throws UserError USAGE, which does not repeat the secret
 */
export function readWebhookSettings(given: {
  readonly secret: string | undefined;
  readonly open: string | undefined;
}): WebhookSettings {
  const { secret = createWebhookSecret(), open } = given;
  if (!isWebhookSecret(secret))
    throw createUsageError(
      "--webhook-secret must be whsec_ and 24 to 64 bytes in base64.",
      "Leave it out, and the server makes one and prints it.",
    );
  return { secret, isGiven: given.secret !== undefined, isAllowed: createPolicy(open) };
}

function createPolicy(open: string | undefined): AddressPolicy {
  const ranges = open === undefined ? [] : open.split(",").map((range) => range.trim());
  try {
    return createAddressPolicy([...LOOPBACK, ...ranges]);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw createUsageError(`--webhook-open: ${error.message.slice(0, 200)}.`);
  }
}
