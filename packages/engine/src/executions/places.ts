/** How many may have a place at the same time. */
export interface PlaceLimits {
  /** Of all that belongs to one organisation. */
  readonly perOrganisation: number;
  /** Of this process. */
  readonly total: number;
}

/**
 * Of requests that wait for the end of an execution. Each takes about 25 kB (5,000 beside 1,000 streams: 118 to 156 MB, bench/README.md), so all
 * of them 250 MB, of which one organisation can have half.
 */
export const WAIT_LIMITS: PlaceLimits = { perOrganisation: 5_000, total: 10_000 };

/** Gives a place back; a second call does nothing. */
export type Leave = () => void;

/** Counts what each organisation has open in a process. */
export interface Places {
  /** Takes a place, or says of whom there are as many as there may be. */
  readonly take: (organisationId: string) => Leave | "organisation" | "process";
}

/** All places are free at first. */
export function createPlaces(limits: PlaceLimits): Places {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take: (organisationId) => {
      const own = taken.get(organisationId) ?? 0;
      if (own >= limits.perOrganisation) return "organisation";
      if (total >= limits.total) return "process";
      taken.set(organisationId, own + 1);
      total += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        total -= 1;
        const left = (taken.get(organisationId) ?? 1) - 1;
        if (left > 0) taken.set(organisationId, left);
        else taken.delete(organisationId);
      };
    },
  };
}

/** Takes places among the requests that wait for an end; null: there are as many as there may be. */
export function createWaitRoom(limits: PlaceLimits = WAIT_LIMITS): (organisationId: string) => Leave | null {
  const places = createPlaces(limits);
  return (organisationId) => {
    const taken = places.take(organisationId);
    return typeof taken === "string" ? null : taken;
  };
}
