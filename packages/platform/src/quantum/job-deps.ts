import type { Executions } from "@platform/engine/executions/executions";
import type { FastifyRequest } from "fastify";
import type { PlatformCaller } from "../api/caller.ts";
import type { FairGate } from "../base/fair-gate.ts";
import type { WriteLimits } from "../metering/write-limits.ts";
import type { BackendStore } from "../store/backends.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { QuantumBudgetStore } from "../store/quantum-budgets.ts";
import type { QuantumCache } from "../store/quantum-cache.ts";
import type { QuantumCalibrationStore } from "../store/quantum-calibrations.ts";
import type { QuantumSessionStore } from "../store/quantum-sessions.ts";
import type { QuantumJobStore } from "../store/quantum-jobs.ts";

/** What the handlers of jobs work with. */
export interface QuantumJobDeps {
  readonly backends: BackendStore;
  readonly quantumJobs: QuantumJobStore;
  readonly quantumBudgets: QuantumBudgetStore;
  readonly quantumCalibrations: QuantumCalibrationStore;
  readonly quantumCache: QuantumCache;
  readonly quantumSessions: QuantumSessionStore;
  readonly executions: Executions;
  readonly history: Pick<HistoryStore, "readInput">;
  readonly limits: Pick<WriteLimits, "giveBackStart">;
  /** Told of each job that was started. */
  readonly noteStart: (caller: PlatformCaller, request: FastifyRequest, serviceKey: string) => Promise<void>;
  /** Lists, each of which may look at thousands of jobs, take turns in it. */
  readonly searches: FairGate;
  /** Path of the quantum API. */
  readonly prefix: string;
}
