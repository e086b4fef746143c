import type { SandboxReport } from "@platform/contract/sandbox";
import type { ReadinessFault } from "@platform/engine/http/server";
import { SECOND } from "@platform/engine/base/time";
import type { Role } from "../config/config.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import type { Database } from "../postgres/database.ts";

const ANSWER_WITHIN_MS = 1 * SECOND;

/** What readiness depends on. */
export interface ReadinessOptions {
  readonly database: Pick<Database, "query">;
  readonly disk: Pick<DiskGuard, "describe">;
  /** What is wrong with the store of objects; null: nothing. */
  readonly explainObjects: () => { readonly code: string; readonly detail: string } | null;
  readonly roles: ReadonlySet<Role>;
  /** Aborts when this process begins to stop. */
  readonly stopping: AbortSignal;
}

/** What this process answers to `GET /readyz`, on both ports. */
export interface Readiness {
  /** What is wrong at present; empty when the process is ready. */
  readonly findFaults: () => Promise<readonly ReadinessFault[]>;
  /** Adds the worker of this process: `explainRest` returns why it starts no executions, null when it does. */
  readonly watchWorker: (explainRest: () => string | null) => void;
  /** Adds how well this process, a worker or a builder, isolates user code. */
  readonly addSandbox: (report: SandboxReport) => void;
  /** What the answer has besides the status: `{sandbox: {level, missing}}` where user code is run. */
  readonly describe: () => { readonly sandbox?: SandboxReport };
}

/**
 * A worker that cannot start executions, or a disk without space, makes a process unready that has no other role. A process
 * with the role gateway or control is only degraded: it still accepts and answers requests, and a load balancer must not
 * send its callers away. Nothing is unready for want of the store of objects: executions of prepared versions need none.
 */
export function createReadiness({
  database,
  disk,
  explainObjects,
  roles,
  stopping,
}: ReadinessOptions): Readiness {
  const servesRequests = roles.has("gateway") || roles.has("control");
  let explainWorker: (() => string | null) | null = null;
  let sandbox: SandboxReport | undefined;
  return {
    findFaults: async () => {
      if (stopping.aborted)
        return [
          { part: "process", detail: "The process is stopping and accepts no new work.", effect: "unready" },
        ];
      const faults: ReadinessFault[] = [];
      if (!(await answersInTime(database)))
        faults.push({ part: "database", detail: "The database does not answer.", effect: "unready" });
      for (const [part, detail] of [
        ["disk", disk.describe()],
        ["worker", explainWorker?.() ?? null],
      ] as const)
        if (detail !== null) faults.push({ part, detail, effect: servesRequests ? "degraded" : "unready" });
      const objects = explainObjects();
      if (objects !== null) faults.push({ part: "objects", ...objects, effect: "degraded" });
      return faults;
    },
    addSandbox: (report) => {
      sandbox = report;
    },
    describe: () => (sandbox === undefined ? {} : { sandbox }),
    watchWorker: (explainRest) => {
      explainWorker = explainRest;
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
