import { Problem } from "@platform/contract/problems";

/** Bounds how many archives this process receives and looks at together: each takes a file of its size, and processor time. */
export interface UploadGate {
  /** Runs `work`, unless too many run. @throws Problem RATE_LIMITED (the organisation's own), UNAVAILABLE (all organisations together) */
  readonly admit: <T>(organizationId: string, work: () => Promise<T>) => Promise<T>;
}

export interface UploadLimits {
  readonly perOrganization: number;
  readonly inAll: number;
}

export const DEFAULT_UPLOAD_LIMITS: UploadLimits = { perOrganization: 4, inAll: 16 };

const RETRY_AFTER_SECONDS = "5";

export function createUploadGate(limits: UploadLimits = DEFAULT_UPLOAD_LIMITS): UploadGate {
  const running = new Map<string, number>();
  let inAll = 0;

  const leave = (organizationId: string): void => {
    inAll -= 1;
    const left = (running.get(organizationId) ?? 0) - 1;
    if (left > 0) running.set(organizationId, left);
    else running.delete(organizationId);
  };

  return {
    admit: async (organizationId, work) => {
      const own = running.get(organizationId) ?? 0;
      if (own >= limits.perOrganization) {
        throw refuse("RATE_LIMITED", `Your organisation is uploading ${own} archives already`);
      }
      if (inAll >= limits.inAll) throw refuse("UNAVAILABLE", "Too many archives are being uploaded");
      running.set(organizationId, own + 1);
      inAll += 1;
      try {
        return await work();
      } finally {
        leave(organizationId);
      }
    },
  };
}

function refuse(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): Problem {
  return new Problem(code, `${what}; try again in ${RETRY_AFTER_SECONDS} seconds.`, {
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  });
}
