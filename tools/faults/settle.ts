import { setTimeout as delay } from "node:timers/promises";
import { READERS } from "./feed-readers.ts";
import type { History } from "./history.ts";

const POLL_MS = 30;

/** Follows an execution to its end and its results; the number tells it which gateway to ask first. */
type Follow = (id: string, gateway: number) => Promise<void>;

/**
 * Waits until each execution that is known of a schedule has a result and both readers of the feed have its end, or it is given up. Those that
 * nobody follows are followed: the code of a start without an answer may begin at any time, also while it waits for that of another.
 */
export async function settle(
  history: History,
  number: number,
  signal: AbortSignal,
  follow: Follow,
): Promise<void> {
  do {
    await Promise.all(listUnfinished(history, number).map(follow));
    await waitUntil(() => history.idsOf(number).every((id) => isInFeeds(history, id)), signal);
  } while (!signal.aborted && listUnfinished(history, number).length > 0);
}

/** Resolves as soon as it is so, or when it is given up. */
export async function waitUntil(isSo: () => boolean, signal: AbortSignal): Promise<void> {
  while (!isSo() && !signal.aborted) await delay(POLL_MS);
}

/** Whether nothing comes after this state. */
export function isEnd(status: string): boolean {
  return status !== "PENDING" && status !== "RUNNING";
}

function listUnfinished(history: History, number: number): readonly string[] {
  return history.idsOf(number).filter((id) => !history.ofExecution(id).some(({ kind }) => kind === "result"));
}

function isInFeeds(history: History, id: string): boolean {
  const ends = history.ofExecution(id).filter((entry) => entry.kind === "event" && isEnd(entry.status));
  return READERS.every((reader) => ends.some((entry) => entry.kind === "event" && entry.reader === reader));
}
