import { readMonotonic } from "@platform/engine/base/monotonic";
import { KILOBYTE } from "@platform/engine/base/bytes";
import { MINUTE, SECOND } from "@platform/engine/base/time";
import { Problem } from "@platform/contract/problems";

/** How slowly the sender of a part may send. */
export interface PartPace {
  /** In the long run. */
  readonly bytesPerSecond: number;
  /** How far it may fall behind, in milliseconds. */
  readonly behindMs: number;
}

/** A slow modem. Who sends less takes a place without need. */
export const LEAST_PACE: PartPace = { bytesPerSecond: 4 * KILOBYTE, behindMs: 1 * MINUTE };

/** A part as it comes. */
interface WatchedPart {
  /** Aborts when the sender is too slow. */
  readonly signal: AbortSignal;
  /** The sender has the word from now on. */
  readonly wait: () => void;
  /** So much has come; what follows is the time of the platform. */
  readonly came: (bytes: number) => void;
  readonly close: () => void;
}

const LOOKS = 20;

/** Ends parts whose senders are slow: each takes a place that others wait for. Only the time that the platform waits counts. */
export function watchPace(
  { bytesPerSecond, behindMs }: PartPace,
  refuse: (bytesPerSecond: number) => Problem,
): WatchedPart {
  const slow = new AbortController();
  let leftMs = behindMs;
  let since: number | null = null;
  const look = (): void => {
    if (since === null) return;
    const now = readMonotonic();
    leftMs -= now - since;
    since = now;
    if (leftMs <= 0) slow.abort(refuse(bytesPerSecond));
  };
  const timer = setInterval(look, behindMs / LOOKS);
  return {
    signal: slow.signal,
    wait: () => {
      since = readMonotonic();
    },
    came: (bytes) => {
      look();
      since = null;
      leftMs = Math.min(behindMs, leftMs + (bytes / bytesPerSecond) * SECOND);
    },
    close: () => clearInterval(timer),
  };
}

/** 503: clients of tus ask how much has arrived, and go on. */
export function refuseSlowPart(bytesPerSecond: number): Problem {
  return new Problem(
    "UNAVAILABLE",
    `The part came more slowly than ${bytesPerSecond} bytes a second; ask how much has arrived, and go on from there.`,
    { headers: { "retry-after": "1" } },
  );
}
