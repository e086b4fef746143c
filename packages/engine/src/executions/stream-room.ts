import { Problem } from "@platform/contract/problems";

/** How many streams may be open at the same time: each holds a connection. */
export interface StreamLimits {
  /** Of all that belongs to one organisation. */
  readonly perOrganisation: number;
  /** Of this process. */
  readonly total: number;
}

/** Default limits. A stream that nobody reads keeps about 100 kB, so all of them 400 MB. */
const DEFAULT_STREAM_LIMITS: StreamLimits = { perOrganisation: 1_000, total: 4_000 };

/** Counts the open streams of a process. */
export interface StreamRoom {
  /** Takes a place; the function that is returned gives it back, once. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly take: (organisationId: string) => () => void;
}

const RETRY_AFTER = { headers: { "retry-after": "10" } };

/** No stream is open at first. */
export function createStreamRoom(limits: StreamLimits = DEFAULT_STREAM_LIMITS): StreamRoom {
  const open = new Map<string, number>();
  let total = 0;
  return {
    take: (organisationId) => {
      const own = open.get(organisationId) ?? 0;
      if (own >= limits.perOrganisation)
        throw new Problem(
          "RATE_LIMITED",
          `The organisation has ${limits.perOrganisation} open streams, the most that it may have. Close some, or poll.`,
          RETRY_AFTER,
        );
      if (total >= limits.total)
        throw new Problem(
          "UNAVAILABLE",
          "This server has as many open streams as it can serve. Try again later, or poll.",
          RETRY_AFTER,
        );
      open.set(organisationId, own + 1);
      total += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        total -= 1;
        const left = (open.get(organisationId) ?? 1) - 1;
        if (left > 0) open.set(organisationId, left);
        else open.delete(organisationId);
      };
    },
  };
}
