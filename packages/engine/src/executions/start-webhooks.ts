import { Problem } from "@platform/contract/problems";
import type { Owner } from "../store/owner.ts";
import type { AcceptedBody } from "./start-body.ts";

/** Whoever tells the URLs that starts name what becomes of their executions. */
export interface StartWebhooks {
  /** Before an execution with a URL is created: what is sent there can be signed. */
  readonly prepare: (owner: Owner) => Promise<void>;
}

/** @throws Problem INVALID_INPUT where a URL is named and nobody tells it: the caller would wait for ever */
export function requireWebhooks(
  { webhookUrl }: Pick<AcceptedBody, "webhookUrl">,
  webhooks: StartWebhooks | undefined,
): void {
  if (webhookUrl === undefined || webhooks !== undefined) return;
  const message = "This server tells no URLs what becomes of executions; leave out webhookUrl.";
  throw new Problem("INVALID_INPUT", message, { errors: [{ path: "/webhookUrl", message }] });
}
