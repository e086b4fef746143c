import { BACKENDS_API } from "./backends.ts";
import { BUDGETS_API } from "./budgets.ts";
import { QUANTUM_JOB_PARTS_API } from "./job-parts.ts";
import { QUANTUM_JOBS_API } from "./jobs.ts";
import { SERVICE_EXECUTIONS_API } from "./service-executions.ts";
import { SESSIONS_API } from "./sessions.ts";

/** Path prefix of the quantum API's operations. */
export const QUANTUM_API_PREFIX = "/quantum";

/** All operations of the quantum API, served below `/quantum`. Their bodies are in snake_case, as published clients of such platforms expect. */
export const QUANTUM_API = {
  ...BACKENDS_API,
  ...QUANTUM_JOBS_API,
  ...QUANTUM_JOB_PARTS_API,
  ...SESSIONS_API,
  ...BUDGETS_API,
  ...SERVICE_EXECUTIONS_API,
} as const;
