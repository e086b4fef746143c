import { Problem } from "@platform/contract/problems";

/** Limits how many archives and files this process receives at the same time: each needs disk space and processor time. */
export interface UploadGate {
  /**
   * Runs `work`, which is asked to end by the signal where another organisation needs its place.
   *
   * @throws Problem RATE_LIMITED for too many of this organisation, UNAVAILABLE for too many in all
   */
  readonly admit: <T>(organisationId: string, work: (yielding: AbortSignal) => Promise<T>) => Promise<T>;
}

/** How many uploads may run at the same time. */
export interface UploadLimits {
  readonly perOrganisation: number;
  readonly inAll: number;
  /** Where all places are taken, one of the organisation with the most ends for one that has at least two less. */
  readonly mayEnd?: boolean;
}

/** The limits of `createUploadGate` unless others are given. */
const DEFAULT_UPLOAD_LIMITS: UploadLimits = { perOrganisation: 4, inAll: 16 };

const RETRY_AFTER_SECONDS = "5";

/** Counts the uploads that run. */
export function createUploadGate(limits: UploadLimits = DEFAULT_UPLOAD_LIMITS): UploadGate {
  /** Of each organisation that has some, the oldest first. */
  const running = new Map<string, Set<AbortController>>();

  const leave = (organisationId: string, upload: AbortController): void => {
    const own = running.get(organisationId);
    own?.delete(upload);
    if (own?.size === 0) running.delete(organisationId);
  };
  const makeRoom = (organisationId: string, own: number): boolean => {
    const inAll = [...running.values()].reduce((sum, { size }) => sum + size, 0);
    if (inAll < limits.inAll) return true;
    if (limits.mayEnd !== true) return false;
    const [most, uploads] = findMost(running);
    const [oldest] = uploads;
    if (oldest === undefined || uploads.size < own + 2 || most === organisationId) return false;
    // It ends when what has come lasts; its place is counted as free already.
    leave(most, oldest);
    oldest.abort(refuse("UNAVAILABLE", "Another organisation got the place of this upload"));
    return true;
  };

  return {
    admit: async (organisationId, work) => {
      const own = running.get(organisationId)?.size ?? 0;
      if (own >= limits.perOrganisation) {
        throw refuse("RATE_LIMITED", `Your organisation is already running ${own} uploads`);
      }
      if (!makeRoom(organisationId, own)) throw refuse("UNAVAILABLE", "Too many uploads are running");
      const upload = new AbortController();
      running.set(organisationId, (running.get(organisationId) ?? new Set()).add(upload));
      try {
        return await work(upload.signal);
      } finally {
        leave(organisationId, upload);
      }
    },
  };
}

function findMost(
  running: ReadonlyMap<string, ReadonlySet<AbortController>>,
): readonly [string, ReadonlySet<AbortController>] {
  let most: readonly [string, ReadonlySet<AbortController>] = ["", new Set()];
  for (const each of running) if (each[1].size > most[1].size) most = each;
  return most;
}

function refuse(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): Problem {
  return new Problem(code, `${what}; try again in ${RETRY_AFTER_SECONDS} seconds.`, {
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  });
}
