import { Problem } from "@platform/contract/problems";
import type { QUANTUM_JOBS_API } from "@platform/contract/quantum-api/jobs";
import type { SERVICE_EXECUTIONS_API } from "@platform/contract/quantum-api/service-executions";
import { createCache } from "@platform/engine/base/cache";
import { readTraceContext } from "@platform/engine/base/trace-context";
import { scanJson } from "@platform/engine/executions/json-scan";
import type { Executions } from "@platform/engine/executions/executions";
import { describeKey, readIdempotencyKey } from "@platform/engine/http/idempotency-key";
import { frameResult } from "@platform/engine/http/large-result";
import { answerContent } from "@platform/engine/http/send-content";
import { linkNext, readTime } from "@platform/engine/http/paging";
import { prefersDryRun } from "@platform/engine/http/prefer";
import { readParameter } from "@platform/engine/http/query";
import { REPLAYED, startOnce } from "@platform/engine/http/start-execution";
import type { OperationHandlers, OperationReply } from "@platform/engine/http/types";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import { createIdempotencyKey } from "@platform/engine/store/idempotency";
import { toJobOwner } from "@platform/engine/store/owner";
import type { Owner } from "@platform/engine/store/owner";
import type { FastifyRequest } from "fastify";
import type { PlatformCaller } from "../api/caller.ts";
import type { WriteLimits } from "../metering/write-limits.ts";
import type { BackendStore } from "../store/backends.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { JobFacts, QuantumJobStore } from "../store/quantum-jobs.ts";
import { OWN_PROVIDER, requireBackend } from "./backend-handlers.ts";
import { readInput, readJobRequest, requireSupported, toStartBody } from "./job-request.ts";
import type { ReadRequest } from "./job-request.ts";
import { waitAsKnown } from "./published-clients.ts";
import { toFilter, toJobState, toQuantumJob } from "./job-view.ts";
import { executionOf } from "./service-caller.ts";

/** What the handlers work with. */
export interface QuantumJobDeps {
  readonly backends: BackendStore;
  readonly quantumJobs: QuantumJobStore;
  readonly executions: Executions;
  readonly history: Pick<HistoryStore, "readInput">;
  readonly limits: Pick<WriteLimits, "giveBackStart">;
  /** Told of each job that was started. */
  readonly noteStart: (caller: PlatformCaller, request: FastifyRequest, serviceKey: string) => Promise<void>;
  /** Path of the quantum API. */
  readonly prefix: string;
}

/** Facts never change; jobs that are waited for are asked for over and over. */
const FACTS = { maxEntries: 2_000 };
const DEFAULT_SIZE = 20;

/** Handlers of quantum jobs: executions of backends that belong to the organisation itself. */
export function createQuantumJobHandlers(deps: QuantumJobDeps): Handlers {
  const { executions, quantumJobs } = deps;
  const requireFacts = createFactsReader(quantumJobs);
  return {
    createQuantumJob: createStart(deps, requireFacts),
    ...createLists(quantumJobs),
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
      const { id, owner } = await requireFacts(caller, params.id);
      await waitAsPreferred(executions, { id, owner, http, reply });
      const { record, output } = await executions.result(id, owner.id);
      if (output === null) return { status: 200, body: describeFailure(record) };
      const large = output.output?.result ?? null;
      if (large === null) return { status: 200, body: output.result };
      const content = frameResult(executions.results, large, WHOLE);
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

/** A job of the caller's organisation, by the id that was given. @throws Problem EXECUTION_NOT_FOUND */
type RequireFacts = (
  caller: PlatformCaller,
  given: string,
) => Promise<{ readonly id: string; readonly facts: JobFacts; readonly owner: Owner }>;

function createFactsReader(quantumJobs: QuantumJobStore): RequireFacts {
  const known = createCache<JobFacts>(FACTS);
  return async (caller, given) => {
    const { organisationId } = caller;
    const id = given.toLowerCase();
    const facts = await known.get(`${organisationId} ${id}`, async () => {
      const found = await quantumJobs.findFacts(organisationId, id);
      if (found === null) throw new Problem("EXECUTION_NOT_FOUND", NO_JOB);
      return found;
    });
    const executionId = executionOf(caller);
    // An execution sees its own jobs only: others of the organisation are of other callers.
    if (executionId !== null && facts.serviceExecutionId !== executionId)
      throw new Problem("EXECUTION_NOT_FOUND", NO_JOB);
    return { id, facts, owner: toJobOwner(organisationId) };
  };
}

const NO_JOB = "There is no such quantum job.";

/** Published clients read it for the reason. */
function describeFailure({ failure }: ExecutionRecord): string {
  return JSON.stringify(failure === null ? {} : { code: failure.code, detail: failure.detail });
}

/** `data` of a start body, byte by byte. */
function cutData(body: Uint8Array): Uint8Array {
  const member = scanJson(body).members.find(({ key }) => key === "data");
  if (member === undefined) throw new Error("The body of a quantum job has no data.");
  return body.subarray(member.start, member.start + member.length);
}

const NOTHING = Buffer.alloc(0);
/** Nothing stands around the result. */
const WHOLE = { head: NOTHING, tail: NOTHING, isFlat: false };

type Handlers = OperationHandlers<typeof QUANTUM_JOBS_API & typeof SERVICE_EXECUTIONS_API, PlatformCaller>;
type Lists = Pick<Handlers, "listQuantumJobs" | "listServiceExecutionWorkloads">;

/** An execution lists its own jobs, whatever it asks for. */
function createLists(quantumJobs: QuantumJobStore): Lists {
  const list = createList(quantumJobs);
  return {
    listQuantumJobs: async ({ caller, query }) => {
      const own = executionOf(caller) ?? query.serviceExecutionId?.toLowerCase();
      return await list(caller, query, own);
    },
    listServiceExecutionWorkloads: async ({ caller, params, query }) => {
      const executionId = params.executionId.toLowerCase();
      const own = executionOf(caller) ?? executionId;
      if (own !== executionId) throw new Problem("EXECUTION_NOT_FOUND", "This is not your execution.");
      return await list(caller, query, own);
    },
  };
}

type ListQuery = Parameters<Lists["listServiceExecutionWorkloads"]>[0]["query"];

function createList(quantumJobs: QuantumJobStore) {
  return async (
    { organisationId }: PlatformCaller,
    { page = 0, size = DEFAULT_SIZE, backendId, status, tag: tags, createdAfter }: ListQuery,
    serviceExecutionId: string | undefined,
  ) => {
    const filter = {
      backendId,
      serviceExecutionId,
      tags,
      createdAfter: readTime("createdAfter", createdAfter),
      ...(status === undefined ? {} : toFilter(status)),
    };
    const part = { offset: page * size, limit: size };
    const { items, total } = await quantumJobs.list(organisationId, filter, part);
    const pages = Math.ceil(total / size);
    const body = {
      content: items.map((item) => toQuantumJob(item, item.facts)),
      page,
      size,
      total_elements: total,
      total_pages: pages,
      last: page + 1 >= pages,
    };
    return { status: 200 as const, body };
  };
}

/** A start that is repeated with its key is answered with what the first one has started, also where it would be refused by now. */
function createStart(deps: QuantumJobDeps, requireFacts: RequireFacts): Handlers["createQuantumJob"] {
  const { backends, executions, limits, noteStart, prefix } = deps;
  return async ({ caller, body, http, reply }) => {
    if (prefersDryRun(http)) throw new Problem("INVALID_INPUT", NO_REHEARSAL);
    const owner = toJobOwner(caller.organisationId);
    const key = describeJobKey(http, body, executionOf(caller));
    const start = async () => {
      const request = readJobRequest(body);
      const backend = await requireBackend(backends, caller.organisationId, request.backend_id);
      requireSupported(request, backend.description);
      const { version, serviceKey } = backend;
      const facts = toFacts(request, {
        version: version.version,
        provider: backend.description.provider,
        executionId: executionOf(caller),
      });
      const trace = readTraceContext(http.headers);
      const given = { body: toStartBody(request), annotation: { ...facts }, key, trace };
      const started = await executions.start(owner, version, given);
      if (started.isRepeated !== true && executionOf(caller) === null)
        await noteStart(caller, http, serviceKey);
      return started;
    };
    const created = await (key === undefined ? start() : startOnce(start, deps, { ownerId: owner.id, key }));
    const isRepeated = created.isRepeated === true;
    if (isRepeated) limits.giveBackStart(caller);
    const { id, facts } = await requireFacts(caller, created.id);
    const record = await waitAsPreferred(executions, { id, owner, http, reply });
    const headers = {
      location: `${prefix}/jobs/${id}`,
      ...(isRepeated ? { [REPLAYED]: "true" } : {}),
    };
    return { status: 201, headers, body: toQuantumJob(record, facts) };
  };
}

/** Each execution has keys of its own: code may use the same ones in every run. */
function describeJobKey(http: FastifyRequest, body: Uint8Array, executionId: string | null) {
  const key = executionId === null ? undefined : readIdempotencyKey(http);
  return key === undefined
    ? describeKey(http, body)
    : createIdempotencyKey(`${String(executionId)} ${key}`, "", body);
}

const NO_REHEARSAL = "Quantum jobs cannot be rehearsed: send the request without Prefer: dry-run.";

/** What a job is started on, and by which execution; null: by a user. */
interface Started {
  readonly version: string;
  readonly provider: string | undefined;
  readonly executionId: string | null;
}

function toFacts(request: ReadRequest, { version, provider = OWN_PROVIDER, executionId }: Started): JobFacts {
  return {
    backendId: request.backend_id,
    backendVersion: version,
    provider,
    name: request.name ?? null,
    tags: request.tags ?? [],
    inputFormat: request.input_format,
    inputParams: request.input_params ?? {},
    shots: request.shots ?? null,
    sdkProvider: request.sdk_provider ?? null,
    ...(executionId === null ? {} : { serviceExecutionId: executionId }),
    ...(request.detached === true ? { detached: true } : {}),
  };
}
