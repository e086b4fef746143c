import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { Operation } from "@platform/contract/operation";
import { JOBS_API } from "@platform/contract/platform-api/jobs";
import type { ServiceOperationId } from "@platform/contract/service-api";
import type { Executions, VersionTarget } from "@platform/engine/executions/executions";
import { jobPresenter } from "@platform/engine/http/presenters";
import { registerServiceApi } from "@platform/engine/http/service-api";
import { toJobOwner } from "@platform/engine/store/owner";
import type { VersionRecord, VersionStore } from "../store/versions/versions.ts";
import type { ControlCaller } from "./caller.ts";

export interface JobDeps {
  readonly executions: Executions;
  readonly versions: VersionStore;
  readonly prefix: string;
  readonly authorize: (request: FastifyRequest, operation: Operation) => Promise<ControlCaller>;
}

const OPERATION_IDS = {
  startExecution: "startJob",
  listExecutions: "listJobs",
  getState: "getJob",
  getResult: "getJobResult",
  getLog: "getJobLog",
  cancelExecution: "cancelJob",
} as const satisfies Record<ServiceOperationId, keyof typeof JOBS_API>;

/** Jobs are executions that belong to the organisation itself. */
export async function registerJobs(app: FastifyInstance, deps: JobDeps): Promise<void> {
  const base = `${deps.prefix}/jobs`;
  await registerServiceApi(app, {
    prefix: base,
    executions: deps.executions,
    presenter: jobPresenter,
    baseOf: () => base,
    authorize: async (request, operationId) => {
      const caller = await deps.authorize(request, JOBS_API[OPERATION_IDS[operationId]]);
      return {
        owner: toJobOwner(caller.organizationId),
        target: () => findTarget(deps.versions, caller, request.query),
      };
    },
  });
}

/** @throws Problem INVALID_INPUT, SERVICE_NOT_FOUND, VERSION_RETIRED */
async function findTarget(
  versions: VersionStore,
  caller: ControlCaller,
  query: unknown,
): Promise<VersionTarget> {
  const serviceKey = readParameter(query, "serviceKey");
  const wanted = readParameter(query, "version");
  if (serviceKey === undefined) {
    const message = "the parameter serviceKey is missing";
    throw new Problem("INVALID_INPUT", `In the query, ${message}.`, {
      errors: [{ path: "/serviceKey", message }],
    });
  }
  const version =
    wanted === undefined
      ? await versions.findLatest(caller.organizationId, serviceKey)
      : await versions.find(caller.organizationId, serviceKey, wanted);
  if (!version) throw new Problem("SERVICE_NOT_FOUND");
  if (version.retiredAt !== null) {
    throw new Problem("VERSION_RETIRED", `Version ${version.version} takes no new executions.`);
  }
  return toTarget(version);
}

function toTarget({ id, resources, timeoutSeconds, inputSchema }: VersionRecord): VersionTarget {
  return { versionId: id, resources, timeoutSeconds, inputSchema };
}

function readParameter(query: unknown, name: string): string | undefined {
  if (typeof query !== "object" || query === null || !Object.hasOwn(query, name)) return undefined;
  const value: unknown = Object.entries(query).find(([key]) => key === name)?.[1];
  if (typeof value === "string") return value;
  throw new Problem("INVALID_INPUT", `The parameter ${name} is given more than once.`);
}
