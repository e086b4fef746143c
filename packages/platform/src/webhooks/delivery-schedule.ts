import { HOUR, MINUTE, SECOND } from "@platform/engine/base/time";
import type { DeliveryEnd } from "../store/webhooks/deliveries.ts";
import type { WebhookAnswer } from "@platform/engine/webhooks/send-webhook";

/** Pauses after the first failures; then always the last one, until a day is over. Milliseconds. */
const PAUSES_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
/** HTTP: the receiver wants no more messages (Standard Webhooks). */
const GONE = 410;

/** A try, and what it is judged by. */
export interface Tried {
  readonly answer: Pick<WebhookAnswer, "status">;
  /** How many times it was sent, this one included. */
  readonly tries: number;
  /** Milliseconds since the epoch, as the next. */
  readonly now: number;
  readonly giveUpAt: number;
  /** From 0 to 1, by chance: messages that failed together are not tried again together. */
  readonly spread: number;
}

/** What becomes of a message: any answer of 200 to 299 is a success, and a redirect is not. */
export function decideDelivery({ answer, tries, now, giveUpAt, spread }: Tried): DeliveryEnd {
  const { status } = answer;
  if (status !== null && status >= 200 && status < 300) return { status: "DELIVERED" };
  if (status === GONE) return { status: "FAILED", isGone: true };
  const longest = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1] ?? HOUR;
  const pauseMs = longest * (1 - 0.25 * spread);
  return now + pauseMs > giveUpAt ? { status: "FAILED", isGone: false } : { status: "PENDING", pauseMs };
}
