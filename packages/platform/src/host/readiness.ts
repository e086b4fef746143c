import type { ReadinessFault } from "@platform/engine/http/server";
import { SECOND } from "@platform/engine/base/time";
import type { Role } from "../config/config.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import type { Database } from "../postgres/database.ts";

const ANSWER_WITHIN_MS = 1 * SECOND;

export interface ReadinessOptions {
  readonly database: Pick<Database, "query">;
  readonly disk: Pick<DiskGuard, "describe">;
  readonly roles: ReadonlySet<Role>;
  /** Aborts when this process begins to stop. */
  readonly stopping: AbortSignal;
}

/** What this process answers to `GET /readyz`, on both ports. */
export interface Readiness {
  readonly findFaults: () => Promise<readonly ReadinessFault[]>;
  /** From now on it also says why the worker in this process starts no executions. */
  readonly watchWorker: (findFault: () => string | null) => void;
}

/**
 * A worker that cannot start executions, or a disk without room, makes a process unready that has nothing else to do. Beside a gateway or the platform API it does not:
 * these accept and answer as before, and a load balancer that sent their callers away would only make it worse.
 */
export function createReadiness({ database, disk, roles, stopping }: ReadinessOptions): Readiness {
  const servesRequests = roles.has("gateway") || roles.has("control");
  let findWorkerFault: (() => string | null) | null = null;
  return {
    findFaults: async () => {
      if (stopping.aborted)
        return [{ part: "process", detail: "It is stopping and takes no more work.", effect: "unready" }];
      const faults: ReadinessFault[] = [];
      if (!(await answersInTime(database)))
        faults.push({ part: "database", detail: "It does not answer.", effect: "unready" });
      for (const [part, detail] of [
        ["disk", disk.describe()],
        ["worker", findWorkerFault?.() ?? null],
      ] as const)
        if (detail !== null) faults.push({ part, detail, effect: servesRequests ? "degraded" : "unready" });
      return faults;
    },
    watchWorker: (findFault) => {
      findWorkerFault = findFault;
    },
  };
}

async function answersInTime(database: Pick<Database, "query">): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ANSWER_WITHIN_MS);
    database
      .query({ text: "select 1", idempotent: true })
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
