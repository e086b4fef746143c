import type { FastifyInstance } from "fastify";
import { createQuantumOpenApi } from "@platform/contract/quantum-api/openapi";
import type { Operation } from "@platform/contract/operation";
import { listScopes } from "@platform/contract/permissions";
import { QUANTUM_API, QUANTUM_API_PREFIX } from "@platform/contract/quantum-api/quantum-api";
import { registerDocs } from "@platform/engine/http/docs";
import { sendProblem, toProblem } from "@platform/engine/http/errors";
import { registerOperations } from "@platform/engine/http/pipeline";
import type { PipelineOptions } from "@platform/engine/http/pipeline";
import type { PlatformCaller } from "../api/caller.ts";
import { createFairGate } from "../base/fair-gate.ts";
import { createServiceCallers, executionOf, requireOpenToServices } from "./service-caller.ts";
import type { ServiceCallerDeps } from "./service-caller.ts";
import { createBackendHandlers } from "./backend-handlers.ts";
import { createBudgetHandlers } from "./budget-handlers.ts";
import { createCalibrationHandlers } from "./calibration-handlers.ts";
import { createFollowJob } from "./follow-job.ts";
import { createKnownFacts } from "./known-facts.ts";
import { createNormalResult } from "./normal-result-handler.ts";
import { createSessionHandlers } from "./session-handlers.ts";
import { createQuantumJobHandlers } from "./job-handlers.ts";
import type { QuantumJobDeps } from "./job-deps.ts";

/** What the API works with; its callers are those of the platform API. */
export interface QuantumApiDeps extends Omit<QuantumJobDeps, "prefix" | "searches">, ServiceCallerDeps {
  readonly stages: Stages;
}

/** As of all executions (api/execution-handlers.ts): others get a connection to the database meanwhile. */
const SEARCHES = { what: "searches of quantum jobs", inAll: 3, perSharer: 2, waiting: 20 };

type Stages = Omit<PipelineOptions<typeof QUANTUM_API, PlatformCaller>, "prefix" | "handlers">;

/** A token for the quantum API alone opens what the scope `run` opens of it; what else it is refused names the scope that it has. */
function openQuantum(caller: PlatformCaller, operation: Operation): PlatformCaller {
  const { actor } = caller;
  if (actor.scopes?.includes("quantum") !== true || !listScopes(operation).includes("run")) return caller;
  return { ...caller, actor: { ...actor, scopes: [...actor.scopes, "run"] } };
}

/** The stages of users, and of executions of services: what these do is in no audit log, since no member does it. Each job names its execution. */
function openToServices(stages: Stages, deps: ServiceCallerDeps): Stages {
  const services = createServiceCallers(deps);
  const { audit } = stages;
  return {
    ...stages,
    authenticate: async (request, operation) =>
      (await services.authenticate(request.headers)) ?? (await stages.authenticate(request, operation)),
    authorize: (caller, operation) => {
      if (executionOf(caller) !== null) requireOpenToServices(operation);
      return stages.authorize?.(openQuantum(caller, operation), operation);
    },
    ...(audit === undefined
      ? {}
      : {
          audit: {
            record: async (call, handle) =>
              call.caller !== null && executionOf(call.caller) !== null
                ? await handle()
                : await audit.record(call, handle),
            refuse: async (call, error) => {
              if (call.caller === null || executionOf(call.caller) === null) await audit.refuse(call, error);
            },
          },
        }),
  };
}

/** The quantum API below `/quantum`. Refusals have `error` as well, which published clients read. */
export async function registerQuantumApi(
  app: FastifyInstance,
  { stages, ...given }: QuantumApiDeps,
): Promise<void> {
  const deps = { ...given, prefix: QUANTUM_API_PREFIX, searches: createFairGate(SEARCHES) };
  const known = createKnownFacts(deps.quantumJobs);
  const document = createQuantumOpenApi();
  await registerDocs(app, { prefix: QUANTUM_API_PREFIX, openApi: () => document });
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const problem = toProblem(error, request);
      return sendProblem(problem, request, reply, { error: problem.message });
    });
    await registerOperations(scope, QUANTUM_API, {
      ...openToServices(stages, deps),
      prefix: QUANTUM_API_PREFIX,
      handlers: {
        ...createBackendHandlers(deps.backends),
        ...createQuantumJobHandlers(deps, known),
        ...createCalibrationHandlers(deps, known),
        ...createNormalResult(deps, known),
        ...createFollowJob(deps.executions, known),
        ...createSessionHandlers(deps),
        ...createBudgetHandlers(deps.quantumBudgets),
      },
    });
  });
}
