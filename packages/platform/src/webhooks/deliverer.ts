import { randomUUID } from "node:crypto";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import { createTakeLoop } from "@platform/engine/queue/take-loop";
import type { TakeResult } from "@platform/engine/queue/take-machine";
import type { DeliveryClaim, DeliveryStore } from "../store/webhooks/deliveries.ts";
import type { FanOut } from "../store/webhooks/fan-out.ts";
import { decideDelivery } from "./delivery-schedule.ts";
import { sendWebhook } from "@platform/engine/webhooks/send-webhook";
import type { WebhookCall, WebhookSender } from "@platform/engine/webhooks/send-webhook";
import { signMessage } from "@platform/engine/webhooks/sign";
import type { Webhooks } from "./webhooks.ts";

/**
 * Calls at the same time, of all webhooks. Each is a socket that mostly waits, and holds at most 80 KB of an answer; what divides them among
 * organisations is the claim.
 */
const AT_ONCE = 256;
/** How often it looks for what is due: retries come without a notification. Milliseconds. */
const POLL_MS = 1 * SECOND;
/** Events of this time are read together, and have their positions in the feed by then. Milliseconds. */
const GATHER_MS = 50;
/** A lease is longer than any call by this: what is still held after it has no sender any more. Seconds. */
const LEASE_MARGIN = 30;

/** What messages are made of and sent with. */
export interface DelivererOptions {
  /** Makes messages of the next events. */
  readonly fanOut: () => Promise<FanOut>;
  readonly deliveries: Pick<DeliveryStore, "claim" | "settle" | "giveBack">;
  readonly webhooks: Pick<Webhooks, "openSecret">;
  readonly sender: WebhookSender;
  readonly logger: Logger;
}

/** Makes messages to webhooks of the events of executions, and sends them. */
export interface Deliverer {
  /** There may be new events. */
  readonly announce: () => void;
  /** Ends the calls that are under way, whose messages are due again at once. */
  readonly close: () => Promise<void>;
}

interface DelivererState {
  readonly options: DelivererOptions;
  readonly workerId: string;
  readonly stopping: AbortController;
  readonly calls: Set<Promise<void>>;
  /** Whether there was a webhook at the last look: where there is none, events are passed over once a second. */
  isAsked: boolean;
  /** Ends a pause before the next look; null: there is none. */
  pause: NodeJS.Timeout | null;
}

/** Begins to send. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const state: DelivererState = {
    options,
    workerId: randomUUID(),
    stopping: new AbortController(),
    calls: new Set(),
    isAsked: true,
    pause: null,
  };
  const events = createTakeLoop<true>({
    readPermit: () => true,
    take: async () => {
      const read = await options.fanOut();
      state.isAsked = read !== "nobody";
      if (typeof read !== "number") return "unknown";
      if (read > 0) loop.announce();
      return read === 0 ? "nothing" : "something";
    },
    pollMs: POLL_MS,
    onFailure: (error) =>
      options.logger.warn({ err: error }, "no messages to webhooks could be made of events"),
  });
  const loop = createTakeLoop<number>({
    // While it stops, what the calls give back is for other processes.
    readPermit: () =>
      state.calls.size < AT_ONCE && !state.stopping.signal.aborted ? AT_ONCE - state.calls.size : null,
    take: (limit) => take(state, limit, () => loop.free()),
    pollMs: POLL_MS,
    onFailure: (error) => options.logger.warn({ err: error }, "no messages to webhooks could be claimed"),
  });
  loop.open();
  events.open();
  return {
    announce: () => {
      if (!state.isAsked) return;
      state.pause ??= setTimeout(() => {
        state.pause = null;
        events.announce();
      }, GATHER_MS);
    },
    close: async () => {
      clearTimeout(state.pause ?? undefined);
      state.stopping.abort();
      await events.close();
      await loop.close();
      await Promise.all(state.calls);
    },
  };
}

async function take(state: DelivererState, limit: number, onFree: () => void): Promise<TakeResult> {
  const { deliveries, sender } = state.options;
  const claims = await deliveries.claim(state.workerId, limit, sender.timeoutMs / SECOND + LEASE_MARGIN);
  for (const claim of claims) {
    const call = deliver(state, claim)
      .catch((error: unknown) => {
        // Its lease ends, and it is sent again.
        state.options.logger.warn(
          { err: error, deliveryId: claim.id },
          "a message to a webhook could not be settled",
        );
      })
      .finally(() => {
        state.calls.delete(call);
        onFree();
      });
    state.calls.add(call);
  }
  if (claims.length > 0) return "something";
  // What is due may be that of a webhook or an organisation that has enough under way: it is looked for again when a call has ended.
  return state.calls.size === 0 ? "nothing" : "unknown";
}

async function deliver({ options, stopping }: DelivererState, claim: DeliveryClaim): Promise<void> {
  const { deliveries, webhooks, sender } = options;
  const { signal } = stopping;
  const at = Date.now();
  const secrets = openSecrets(webhooks, claim);
  const answer = secrets === null ? NOT_SIGNED : await sendWebhook(sign(claim, secrets, at), sender, signal);
  if (signal.aborted && answer.status === null) return await deliveries.giveBack(claim);
  const end = decideDelivery({
    answer,
    tries: claim.attempt,
    now: Date.now(),
    giveUpAt: claim.giveUpAt,
    spread: Math.random(),
  });
  await deliveries.settle(claim, { at, ...answer }, end);
}

/** Of a webhook whose secret was stored by a platform with another one: nobody is told without a signature. */
const NOT_SIGNED = {
  status: null,
  failure: "The platform cannot read the secret of the webhook; give it a new one.",
  durationMs: 0,
};

/** Null: they were sealed with a secret that this platform does not have. */
function openSecrets(
  webhooks: DelivererOptions["webhooks"],
  { webhookId, secrets }: DeliveryClaim,
): readonly string[] | null {
  try {
    return secrets.map((secret) => webhooks.openSecret(webhookId, secret));
  } catch {
    return null;
  }
}

function sign({ id, url, body }: DeliveryClaim, secrets: readonly string[], at: number): WebhookCall {
  return { url, body, headers: signMessage(secrets, { id, timestamp: Math.floor(at / SECOND), body }) };
}
