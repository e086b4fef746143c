import { createOpenApi } from "../openapi.ts";
import type { OpenApiDocument } from "../openapi.ts";
import { BACKENDS_API } from "./backends.ts";
import { BUDGETS_API } from "./budgets.ts";
import { QUANTUM_JOB_PARTS_API } from "./job-parts.ts";
import { QUANTUM_JOBS_API } from "./jobs.ts";
import { SESSIONS_API } from "./sessions.ts";
import { QUANTUM_API_PREFIX } from "./quantum-api.ts";

/** Creates the OpenAPI document of the quantum API: it is served at `/quantum/openapi.json`, and checked in. */
export function createQuantumOpenApi(): OpenApiDocument {
  return createOpenApi({
    title: "Quantum API",
    version: "1",
    description:
      "Backends of an organisation and the quantum jobs that they run. Bodies are in snake_case, as published clients of quantum platforms expect them. The header X-OrganizationId selects the organisation; the default is the user's own. Refusals have `error`, the same as `detail`.",
    server: { url: QUANTUM_API_PREFIX, description: "This platform" },
    groups: [
      { name: "Backends", description: "What runs quantum jobs", operations: BACKENDS_API },
      {
        name: "Jobs",
        description: "Quantum jobs: executions of backends",
        operations: { ...QUANTUM_JOBS_API, ...QUANTUM_JOB_PARTS_API },
      },
      { name: "Sessions", description: "Jobs on one version of a backend", operations: SESSIONS_API },
      { name: "Budgets", description: "What quantum jobs of a month may cost", operations: BUDGETS_API },
    ],
    security: {
      bearer: { type: "http", scheme: "bearer", description: "Personal access token" },
      authToken: {
        type: "apiKey",
        in: "header",
        name: "X-Auth-Token",
        description: "Personal access token",
      },
    },
  });
}
