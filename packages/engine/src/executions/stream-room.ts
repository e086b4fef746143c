import { Problem } from "@platform/contract/problems";
import { createPlaces } from "./places.ts";
import type { Leave, PlaceLimits } from "./places.ts";

/** Of streams, each of which holds a connection. One that nobody reads keeps about 100 kB, so all of them 400 MB. */
export const STREAM_LIMITS: PlaceLimits = { perOrganisation: 1_000, total: 4_000 };

/** Counts the open streams of a process. */
export interface StreamRoom {
  /** @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly take: (organisationId: string) => Leave;
}

const RETRY_AFTER = { headers: { "retry-after": "10" } };

/** No stream is open at first. */
export function createStreamRoom(limits: PlaceLimits = STREAM_LIMITS): StreamRoom {
  const places = createPlaces(limits);
  return {
    take: (organisationId) => {
      const taken = places.take(organisationId);
      if (taken === "organisation")
        throw new Problem(
          "RATE_LIMITED",
          `The organisation has ${limits.perOrganisation} open streams, the most that it may have. Close some, or poll.`,
          RETRY_AFTER,
        );
      if (taken === "process")
        throw new Problem(
          "UNAVAILABLE",
          "This server has as many open streams as it can serve. Try again later, or poll.",
          RETRY_AFTER,
        );
      return taken;
    },
  };
}
