import { Problem } from "@platform/contract/problems";
import type { QUANTUM_JOBS_API } from "@platform/contract/quantum-api/jobs";
import type { SERVICE_EXECUTIONS_API } from "@platform/contract/quantum-api/service-executions";
import { scanJson } from "@platform/engine/executions/json-scan";
import { answerContent } from "@platform/engine/http/send-content";
import { linkNext } from "@platform/engine/http/paging";
import { readParameter } from "@platform/engine/http/query";
import type { OperationHandlers, OperationReply } from "@platform/engine/http/types";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import type { PlatformCaller } from "../api/caller.ts";
import type { JobFacts } from "../store/quantum-jobs.ts";
import { toEstimate } from "./estimate.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import { readInput } from "./job-request.ts";
import type { KnownFacts } from "./known-facts.ts";
import { listJobs } from "./list-jobs.ts";
import { createLargeLists } from "./large-lists.ts";
import { createStart } from "./start-job.ts";
import { waitAsKnown } from "./published-clients.ts";
import { unwrapList } from "./published-jobs.ts";
import { toJobState, toQuantumJob } from "./job-view.ts";
import { executionOf } from "./service-caller.ts";

/** Handlers of quantum jobs: executions of backends that belong to the organisation itself. */
export function createQuantumJobHandlers(deps: QuantumJobDeps, known: KnownFacts): Handlers {
  const { executions } = deps;
  const requireFacts = known.require;
  const findContent = createLargeLists(executions.results);
  return {
    createQuantumJob: createStart(deps, known),
    ...createLists(deps),
    getQuantumJob: async ({ caller, params, http, reply }) => {
      const { facts, ...asked } = await requireFacts(caller, params.id);
      const record = await waitAsPreferred(executions, { ...asked, http, reply });
      return { status: 200, body: toQuantumJob(record, facts) };
    },
    getQuantumJobStatus: async ({ caller, params, http, reply }) => {
      const { facts: _facts, ...asked } = await requireFacts(caller, params.id);
      const record = await waitAsKnown(executions, { ...asked, http, reply });
      return { status: 200, body: { status: toJobState(record) } };
    },
    getQuantumJobResult: async ({ caller, params, http, reply }) => {
      const { id, owner, facts } = await requireFacts(caller, params.id);
      await waitAsPreferred(executions, { id, owner, http, reply });
      const { record, output } = await executions.result(id, owner.id);
      if (output === null) return { status: 200, body: JSON.stringify(describeFailure(record)) };
      if (facts.isDryRun === true) {
        const waiting = await countWaiting(deps, caller, facts);
        return { status: 200, body: JSON.stringify(toEstimate(output.result, facts, waiting)) };
      }
      const large = output.output?.result ?? null;
      if (large === null) return { status: 200, body: unwrapList(output.result) };
      const content = await findContent(large);
      return (await answerContent(http, content, content.tag)) as OperationReply<
        (typeof QUANTUM_JOBS_API)["getQuantumJobResult"]
      >;
    },
    getQuantumJobInput: async ({ caller, params }) => {
      const { id, facts } = await requireFacts(caller, params.id);
      const body = await deps.history.readInput({ organisationId: caller.organisationId, id });
      if (body === null) throw new Problem("INPUT_EXPIRED");
      return { status: 200, body: readInput(cutData(body), facts.inputFormat) };
    },
    getQuantumJobLog: async ({ caller, params, http, query }) => {
      const { id, owner } = await requireFacts(caller, params.id);
      const { lines, nextCursor } = await executions.log(id, owner.id, readParameter(query, "cursor"));
      return {
        status: 200,
        headers: linkNext(http, `${deps.prefix}/jobs/${id}/log`, nextCursor),
        body: lines,
      };
    },
    cancelQuantumJob: async ({ caller, params }) => {
      const { id, owner } = await requireFacts(caller, params.id);
      await executions.cancel(id, owner.id);
      return { status: 204 };
    },
  };
}

/** Jobs that wait for the backend of a job; null: it is not there any more. */
async function countWaiting(
  { backends }: Pick<QuantumJobDeps, "backends">,
  { organisationId }: PlatformCaller,
  { backendId }: JobFacts,
): Promise<number | null> {
  const backend = await backends.find(organisationId, backendId);
  if (backend === null) return null;
  const loads = await backends.readLoad(organisationId, [backend.serviceKey]);
  return loads.get(backend.serviceKey)?.waiting ?? null;
}

/** Published clients read it for the reason. */
export function describeFailure({ failure }: Pick<ExecutionRecord, "failure">) {
  return failure === null ? {} : { code: failure.code, detail: failure.detail };
}

/** `data` of a start body, byte by byte. */
function cutData(body: Uint8Array): Uint8Array {
  const member = scanJson(body).members.find(({ key }) => key === "data");
  if (member === undefined) throw new Error("The body of a quantum job has no data.");
  return body.subarray(member.start, member.start + member.length);
}

type Handlers = OperationHandlers<typeof QUANTUM_JOBS_API & typeof SERVICE_EXECUTIONS_API, PlatformCaller>;
type Lists = Pick<Handlers, "listQuantumJobs" | "listServiceExecutionWorkloads">;

/** An execution lists its own jobs, whatever it asks for. */
function createLists(deps: QuantumJobDeps): Lists {
  return {
    listQuantumJobs: async ({ caller, query }) => {
      const serviceExecutionId = executionOf(caller) ?? query.serviceExecutionId;
      return { status: 200, body: await listJobs(deps, caller, { ...query, serviceExecutionId }) };
    },
    listServiceExecutionWorkloads: async ({ caller, params, query }) => {
      const executionId = params.executionId.toLowerCase();
      const own = executionOf(caller) ?? executionId;
      if (own !== executionId) throw new Problem("EXECUTION_NOT_FOUND", "This is not your execution.");
      const asked = { ...query, serviceExecutionId: own };
      return { status: 200, body: await listJobs(deps, caller, asked) };
    },
  };
}
