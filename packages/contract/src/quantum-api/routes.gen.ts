/* Written by `npm run gen`. */
import type { Route } from "../client.ts";
import type { Guarded } from "../permissions.ts";
import type { QUANTUM_API } from "./quantum-api.ts";

/** All operations of the quantum API without their schemas, for `createClient` and `can` in a browser. */
// oxfmt-ignore
export const QUANTUM_ROUTES: Readonly<Record<keyof typeof QUANTUM_API, Route & Guarded>> = {
  listBackends: { method: "GET", path: "/backends", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  findLeastBusyBackend: { method: "GET", path: "/backends/least-busy", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getBackend: { method: "GET", path: "/backends/{backendId}", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getBackendStatus: { method: "GET", path: "/backends/{backendId}/status", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getBackendCalibration: { method: "GET", path: "/backends/{backendId}/calibration", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  listBackendCalibrations: { method: "GET", path: "/backends/{backendId}/calibration-history", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getBackendConfig: { method: "GET", path: "/backends/{backendId}/config", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  createQuantumJob: { method: "POST", path: "/jobs", bodyMode: "raw", answerMode: "json", allows: "run", audit: "job.start" },
  listQuantumJobs: { method: "GET", path: "/jobs", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumJob: { method: "GET", path: "/jobs/{id}", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumJobStatus: { method: "GET", path: "/jobs/{id}/status", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumJobResult: { method: "GET", path: "/jobs/{id}/result", bodyMode: "none", answerMode: "bytes", allows: "read", audit: null },
  getQuantumJobLog: { method: "GET", path: "/jobs/{id}/log", bodyMode: "none", answerMode: "bytes", allows: "read", audit: null },
  getQuantumJobInput: { method: "GET", path: "/jobs/{id}/input", bodyMode: "none", answerMode: "bytes", allows: "read", audit: null },
  cancelQuantumJob: { method: "DELETE", path: "/jobs/{id}", bodyMode: "none", answerMode: "none", allows: "run", audit: "job.cancel" },
  getNormalQuantumJobResult: { method: "GET", path: "/jobs/{id}/result/normalized", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumJobCalibration: { method: "GET", path: "/jobs/{id}/calibration", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  followQuantumJob: { method: "GET", path: "/jobs/{id}/events", bodyMode: "none", answerMode: "events", allows: "read", audit: null },
  createQuantumSession: { method: "POST", path: "/sessions", bodyMode: "json", answerMode: "json", allows: "run", audit: "quantum-session.create" },
  getQuantumSession: { method: "GET", path: "/sessions/{id}", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumSessionStatus: { method: "GET", path: "/sessions/{id}/status", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  listQuantumSessionJobs: { method: "GET", path: "/sessions/{id}/jobs", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  patchQuantumSession: { method: "PATCH", path: "/sessions/{id}", bodyMode: "json", answerMode: "json", allows: "run", audit: "quantum-session.update" },
  closeQuantumSession: { method: "DELETE", path: "/sessions/{id}", bodyMode: "none", answerMode: "none", allows: "run", audit: "quantum-session.close" },
  cancelQuantumSession: { method: "POST", path: "/sessions/{id}/cancel", bodyMode: "none", answerMode: "none", allows: "run", audit: "quantum-session.cancel" },
  listQuantumWorkloads: { method: "GET", path: "/workloads", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  getQuantumRuntimeMinutes: { method: "GET", path: "/runtime-minutes", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  listQuantumBudgets: { method: "GET", path: "/budgets", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
  putQuantumBudget: { method: "PUT", path: "/budgets/{currency}", bodyMode: "json", answerMode: "json", allows: "administer", audit: "quantum-budget.put" },
  deleteQuantumBudget: { method: "DELETE", path: "/budgets/{currency}", bodyMode: "none", answerMode: "none", allows: "administer", audit: "quantum-budget.delete" },
  listServiceExecutionWorkloads: { method: "GET", path: "/service-executions/{executionId}/workloads", bodyMode: "none", answerMode: "json", allows: "read", audit: null },
};
