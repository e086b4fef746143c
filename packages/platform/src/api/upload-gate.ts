import { Problem } from "@platform/contract/problems";

/** Whose upload it is. */
interface Uploader {
  readonly organisationId: string;
  readonly userId: string;
}

/** Limits how many archives and files this process receives at the same time: each needs disk space and processor time. */
export interface UploadGate {
  /**
   * Runs `work`, which is asked to end by the signal where another one needs its place.
   *
   * @throws Problem RATE_LIMITED for too many of this organisation or user, UNAVAILABLE for too many in all
   */
  readonly admit: <T>(uploader: Uploader, work: (yielding: AbortSignal) => Promise<T>) => Promise<T>;
}

/** How many uploads may run at the same time. */
export interface UploadLimits {
  /** Of one user as well: who is a member of many organisations has no more places for it. */
  readonly perOrganisation: number;
  readonly inAll: number;
  /** Where all places are taken, one of the organisation or user with the most ends for one that has at least two less. */
  readonly mayEnd?: boolean;
}

/** The limits of `createUploadGate` unless others are given. */
const DEFAULT_UPLOAD_LIMITS: UploadLimits = { perOrganisation: 4, inAll: 16 };

const RETRY_AFTER_SECONDS = "5";

/** An upload that has a place. */
interface Running extends Uploader {
  readonly ending: AbortController;
}

const SHARERS = [
  ["organisationId", "Your organisation is"],
  ["userId", "You are"],
] as const;

/** Counts the uploads that run. */
export function createUploadGate(limits: UploadLimits = DEFAULT_UPLOAD_LIMITS): UploadGate {
  /** The oldest first. */
  const running = new Set<Running>();

  const makeRoom = (uploader: Uploader): boolean => {
    if (running.size < limits.inAll) return true;
    if (limits.mayEnd !== true) return false;
    const oldest = SHARERS.map(([by]) => findRichest(running, uploader, by)).find((found) => found !== null);
    if (oldest === undefined || oldest === null) return false;
    // It ends when what has come lasts; its place is counted as free already.
    running.delete(oldest);
    oldest.ending.abort(refuse("UNAVAILABLE", "Another upload got the place of this one"));
    return true;
  };

  return {
    admit: async ({ organisationId, userId }, work) => {
      const upload: Running = { organisationId, userId, ending: new AbortController() };
      for (const [by, who] of SHARERS) {
        const own = listOf(running, by, upload[by]).length;
        if (own >= limits.perOrganisation)
          throw refuse("RATE_LIMITED", `${who} already running ${own} uploads`);
      }
      if (!makeRoom(upload)) throw refuse("UNAVAILABLE", "Too many uploads are running");
      running.add(upload);
      try {
        return await work(upload.ending.signal);
      } finally {
        running.delete(upload);
      }
    },
  };
}

function listOf(running: Iterable<Running>, by: keyof Uploader, id: string): readonly Running[] {
  return [...running].filter((one) => one[by] === id);
}

/** The oldest upload of who has the most, where that is at least two more than the newcomer has; null otherwise. */
function findRichest(running: Iterable<Running>, uploader: Uploader, by: keyof Uploader): Running | null {
  const own = listOf(running, by, uploader[by]).length;
  const owners = new Set([...running].map((one) => one[by]));
  const shares = [...owners].map((id) => listOf(running, by, id));
  const most = shares.reduce<readonly Running[]>((best, one) => (one.length > best.length ? one : best), []);
  return most.length >= own + 2 ? (most[0] ?? null) : null;
}

function refuse(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): Problem {
  return new Problem(code, `${what}; try again in ${RETRY_AFTER_SECONDS} seconds.`, {
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  });
}
