import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { can } from "@platform/contract/permissions";
import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import type { JOBS_API } from "@platform/contract/platform-api/jobs";
import type { Executions } from "@platform/engine/executions/executions";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import { jobPresenter } from "@platform/engine/http/presenters";
import { readParameter, refuseParameter } from "@platform/engine/http/query";
import { createExecutionHandlers } from "@platform/engine/http/service-api";
import { REPLAYED } from "@platform/engine/http/start-execution";
import type { OperationHandlers } from "@platform/engine/http/types";
import { toJobOwner } from "@platform/engine/store/owner";
import type { VersionTarget } from "@platform/engine/versions/runnable-version";
import type { WriteLimits } from "../metering/write-limits.ts";
import type { VersionStore } from "../store/versions/versions.ts";
import type { PlatformCaller } from "./caller.ts";

/** What the handlers work with. */
export interface JobDeps {
  readonly executions: Executions;
  readonly versions: VersionStore;
  /** Told of each job that was started. */
  readonly noteStart: (caller: PlatformCaller, request: FastifyRequest, serviceKey: string) => Promise<void>;
  readonly receipts: ReceiptIssuer;
  readonly limits: Pick<WriteLimits, "giveBackStart" | "countStarts" | "rehearseStarts">;
  /** Path of the jobs as callers see it, without a final slash. */
  readonly basePath: string;
}

/** Who may store files in data pools may have results stored there. */
const PUTS_FILES = DATA_POOLS_API.putPoolFile;

/** Handlers of jobs: executions that belong to the organisation itself. */
export function createJobHandlers(deps: JobDeps): OperationHandlers<typeof JOBS_API, PlatformCaller> {
  const handlers = createExecutionHandlers<PlatformCaller>({
    executions: deps.executions,
    presenter: jobPresenter,
    receipts: deps.receipts,
    ownerOf: ({ organisationId, userId, actor }) =>
      toJobOwner(organisationId, { userId, mayEdit: can(actor, PUTS_FILES) }),
    targetOf: (caller, request) => findTarget(deps.versions, caller, request),
    baseOf: () => deps.basePath,
    uncountStart: deps.limits.giveBackStart,
    rehearseStarts: (caller, _request, count) => deps.limits.rehearseStarts(caller, count),
    countStarts: (caller, _request, count) => deps.limits.countStarts(caller, count),
  });
  const note = async <
    A extends { readonly status: number; readonly headers?: Readonly<Record<string, string>> },
  >(
    { caller, http }: { readonly caller: PlatformCaller; readonly http: FastifyRequest },
    answer: A,
  ): Promise<A> => {
    // A rehearsal, or a start that was repeated.
    if (answer.status === 200 || answer.headers?.[REPLAYED] !== undefined) return answer;
    await deps.noteStart(caller, http, readParameter(http.query, "serviceKey") ?? "");
    return answer;
  };
  return {
    startJob: async (request) => await note(request, await handlers.startExecution(request)),
    startJobBatch: async (request) => await note(request, await handlers.startBatch(request)),
    getJobBatch: handlers.getBatch,
    cancelJobBatch: handlers.cancelBatch,
    listJobs: handlers.listExecutions,
    getJob: handlers.getState,
    getJobResult: handlers.getResult,
    getJobResultFile: handlers.getResultFile,
    getJobReceipt: handlers.getReceipt,
    getJobLog: handlers.getLog,
    streamJobEvents: handlers.streamEvents,
    cancelJob: handlers.cancelExecution,
  };
}

/** @throws Problem INVALID_INPUT, SERVICE_NOT_FOUND, VERSION_RETIRED */
async function findTarget(
  versions: VersionStore,
  caller: PlatformCaller,
  { query }: FastifyRequest,
): Promise<VersionTarget> {
  const serviceKey = readParameter(query, "serviceKey");
  const wanted = readParameter(query, "version");
  if (serviceKey === undefined) throw refuseParameter("serviceKey", "is missing");
  const version =
    wanted === undefined
      ? await versions.findLatest(caller.organisationId, serviceKey)
      : await versions.find(caller.organisationId, serviceKey, wanted);
  if (!version) throw new Problem("SERVICE_NOT_FOUND");
  if (version.retiredAt !== null) {
    throw new Problem("VERSION_RETIRED", `Version ${version.version} takes no new executions.`);
  }
  return version;
}
