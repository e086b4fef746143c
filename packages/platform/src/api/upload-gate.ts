import { Problem } from "@platform/contract/problems";

/** Limits how many archives and files this process receives at the same time: each needs disk space and processor time. */
export interface UploadGate {
  /** Runs `work`. @throws Problem RATE_LIMITED for too many of this organisation, UNAVAILABLE for too many in all */
  readonly admit: <T>(organisationId: string, work: () => Promise<T>) => Promise<T>;
}

/** How many uploads may run at the same time. */
export interface UploadLimits {
  readonly perOrganisation: number;
  readonly inAll: number;
}

/** The limits of `createUploadGate` unless others are given. */
const DEFAULT_UPLOAD_LIMITS: UploadLimits = { perOrganisation: 4, inAll: 16 };

const RETRY_AFTER_SECONDS = "5";

/** Counts the uploads that run. */
export function createUploadGate(limits: UploadLimits = DEFAULT_UPLOAD_LIMITS): UploadGate {
  const running = new Map<string, number>();
  let inAll = 0;

  const leave = (organisationId: string): void => {
    inAll -= 1;
    const left = (running.get(organisationId) ?? 0) - 1;
    if (left > 0) running.set(organisationId, left);
    else running.delete(organisationId);
  };

  return {
    admit: async (organisationId, work) => {
      const own = running.get(organisationId) ?? 0;
      if (own >= limits.perOrganisation) {
        throw refuse("RATE_LIMITED", `Your organisation is already running ${own} uploads`);
      }
      if (inAll >= limits.inAll) throw refuse("UNAVAILABLE", "Too many uploads are running");
      running.set(organisationId, own + 1);
      inAll += 1;
      try {
        return await work();
      } finally {
        leave(organisationId);
      }
    },
  };
}

function refuse(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): Problem {
  return new Problem(code, `${what}; try again in ${RETRY_AFTER_SECONDS} seconds.`, {
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  });
}
