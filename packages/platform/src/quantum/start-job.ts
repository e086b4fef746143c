import { createHash } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { readTraceContext } from "@platform/engine/base/trace-context";
import { describeKey, readIdempotencyKey } from "@platform/engine/http/idempotency-key";
import { prefersDryRun } from "@platform/engine/http/prefer";
import { REPLAYED, startOnce } from "@platform/engine/http/start-execution";
import type { OperationHandlers } from "@platform/engine/http/types";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import { createIdempotencyKey } from "@platform/engine/store/idempotency";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import type { IdempotencyKey } from "@platform/engine/store/idempotency";
import { toJobOwner } from "@platform/engine/store/owner";
import type { QUANTUM_JOBS_API } from "@platform/contract/quantum-api/jobs";
import type { FastifyRequest } from "fastify";
import type { PlatformCaller } from "../api/caller.ts";
import { formatDecimal, parseAmount } from "../base/decimal.ts";
import type { GrantedVersion } from "../store/access.ts";
import type { BackendRecord } from "../store/backends.ts";
import { toCacheKey } from "../store/quantum-cache.ts";
import type { JobFacts } from "../store/quantum-jobs.ts";
import { OWN_PROVIDER } from "./backend-handlers.ts";
import { findBackend } from "./find-backend.ts";
import { startWithinBudget } from "./hold-budget.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import type { KnownFacts } from "./known-facts.ts";
import { readJobRequest, requireSupported, toStartBody } from "./job-request.ts";
import type { ReadRequest } from "./job-request.ts";
import { toQuantumJob } from "./job-view.ts";
import { findTerms, requireWithin } from "./price.ts";
import { describeParams } from "./published-jobs.ts";
import { executionOf } from "./service-caller.ts";
import { toShownParams } from "./shown-params.ts";

type Start = OperationHandlers<typeof QUANTUM_JOBS_API, PlatformCaller>["createQuantumJob"];

const ASK_SO =
  "A quantum job is rehearsed by dry_run in its body: its backend checks it, and says what it costs.";
/** A backend that only checks a job is done soon; one that runs it instead is ended. */
const DRY_RUN_SECONDS = 60;

/** A start that is repeated with its key is answered with what the first one has started, also where it would be refused by now. */
export function createStart(deps: QuantumJobDeps, known: KnownFacts): Start {
  const { executions, limits, prefix } = deps;
  return async ({ caller, body, http, reply }) => {
    if (prefersDryRun(http)) throw new Problem("INVALID_INPUT", ASK_SO);
    const owner = toJobOwner(caller.organisationId);
    const key = describeJobKey(http, body, executionOf(caller));
    const start = () => startJob(deps, known, { caller, http, body, key });
    const created = await (key === undefined ? start() : startOnce(start, deps, { ownerId: owner.id, key }));
    const isRepeated = created.isRepeated === true;
    if (isRepeated) limits.giveBackStart(caller);
    const { id, facts } = await known.require(caller, created.id);
    const record = await waitAsPreferred(executions, { id, owner, http, reply });
    const headers = {
      location: `${prefix}/jobs/${id}`,
      ...(isRepeated ? { [REPLAYED]: "true" } : {}),
    };
    return { status: 201, headers, body: toQuantumJob(record, facts) };
  };
}

/** A start, and what it is known by. */
interface Asked {
  readonly caller: PlatformCaller;
  readonly http: FastifyRequest;
  readonly body: Uint8Array;
  readonly key: IdempotencyKey | undefined;
}

async function startJob(
  deps: QuantumJobDeps,
  known: KnownFacts,
  { caller, http, body, key }: Asked,
): Promise<Pick<ExecutionRecord, "id" | "isRepeated">> {
  const executionId = executionOf(caller);
  const request = readJobRequest(body);
  const backend = await findBackend(deps, caller, request);
  const job = acceptJob(request, backend, executionId);
  const { version, startBody } = job;
  const { cached, facts } = await askCache(deps, { caller, request, backend, job, key });
  const isCharged = backend.hasBudget && facts.isDryRun !== true;
  const held = {
    budgets: deps.quantumBudgets,
    organisationId: caller.organisationId,
    terms: isCharged ? (facts.terms ?? null) : null,
  };
  const trace = readTraceContext(http.headers);
  const given = { body: startBody, annotation: { ...facts }, key, trace, isCounted: true } as const;
  const owner = toJobOwner(caller.organisationId);
  const run = (id: string) => deps.executions.start(owner, version, { ...given, id });
  const started = cached ?? (await startWithinBudget(held, run));
  if (started.isRepeated === true) return started;
  if (facts.sessionId !== undefined && cached === null)
    await joinSession(deps, caller, { sessionId: facts.sessionId, executionId: started.id });
  known.note(caller, started.id, cached?.facts ?? facts);
  if (executionId === null) await deps.noteStart(caller, http, backend.serviceKey);
  return started;
}

/** What is started while its session is being cancelled ends with it: whoever cancels has looked for its jobs before this one was there. */
async function joinSession(
  { quantumSessions, executions }: Pick<QuantumJobDeps, "quantumSessions" | "executions">,
  { organisationId }: PlatformCaller,
  job: { readonly sessionId: string; readonly executionId: string },
): Promise<void> {
  if (await quantumSessions.advance({ organisationId, ...job }))
    await executions.cancel(job.executionId, toJobOwner(organisationId).id);
}

/** Each execution has keys of its own: code may use the same ones in every run. */
function describeJobKey(http: FastifyRequest, body: Uint8Array, executionId: string | null) {
  const key = executionId === null ? undefined : readIdempotencyKey(http);
  return key === undefined
    ? describeKey(http, body)
    : createIdempotencyKey(`${String(executionId)} ${key}`, "", body);
}

/** What is started, and what is kept of it. */
interface AcceptedJob {
  readonly version: GrantedVersion;
  readonly facts: JobFacts & { readonly digest: string };
  readonly startBody: Uint8Array;
}

/** Whether an earlier job answers it (null: it is to be run), and what is kept of it otherwise: what others find it by, where the same would be the result again. */
async function askCache(
  { quantumCache }: Pick<QuantumJobDeps, "quantumCache">,
  asked: {
    readonly caller: PlatformCaller;
    readonly request: ReadRequest;
    readonly backend: BackendRecord;
    readonly job: AcceptedJob;
    readonly key: IdempotencyKey | undefined;
  },
): Promise<{
  readonly cached: { readonly id: string; readonly facts: JobFacts; readonly isRepeated?: true } | null;
  readonly facts: JobFacts;
}> {
  const { request, backend, job, key } = asked;
  const { facts, startBody: body } = job;
  const isSeeded = (request.input_params?.["seed"] ?? null) !== null;
  const mayBe = request.dry_run !== true && isSeeded && backend.description.deterministic === true;
  if (!mayBe) return { cached: null, facts };
  const { organisationId } = asked.caller;
  const cacheKey = toCacheKey(organisationId, facts.digest);
  const run = { cached: null, facts: { ...facts, cacheKey } };
  if (request.cache !== true) return run;
  const id = createUuidV7();
  const cachedFrom = await quantumCache.answer({ id, organisationId, facts, cacheKey, body, key });
  return cachedFrom === null ? run : { cached: { id, facts: { ...facts, cachedFrom } }, facts };
}

/** @throws Problem INVALID_INPUT, MAX_COST_EXCEEDED */
function acceptJob(request: ReadRequest, backend: BackendRecord, executionId: string | null): AcceptedJob {
  const { description, version } = backend;
  requireSupported(request, description);
  const timeoutSeconds = version.service.policy.timeoutSeconds ?? version.timeoutSeconds;
  const terms = findTerms(description, request, timeoutSeconds);
  requireWithin(terms, request.max_cost);
  const facts = {
    ...toFacts(request, backend),
    ...describeChoices(request, executionId),
    ...(terms === null ? {} : { terms }),
    digest: digestJob(version, toStartBody({ ...request, dry_run: false })),
  };
  const limited = limitTime(version, Math.min(timeoutSeconds, DRY_RUN_SECONDS));
  return { version: request.dry_run === true ? limited : version, facts, startBody: toStartBody(request) };
}

function toFacts(request: ReadRequest, { description, version }: BackendRecord): JobFacts {
  return {
    backendId: request.backend_id,
    backendVersion: version.version,
    provider: description.provider ?? OWN_PROVIDER,
    name: request.name ?? null,
    tags: request.tags ?? [],
    inputFormat: request.input_format,
    inputParams: toShownParams(describeParams(request)),
    shots: request.shots ?? null,
    sdkProvider: request.sdk_provider ?? null,
  };
}

/** What most jobs do not have. */
function describeChoices(
  { detached, dry_run, cache, max_cost, session_id: sessionId = null }: ReadRequest,
  executionId: string | null,
): Partial<JobFacts> {
  return {
    // A dry run is no job of a session.
    ...(sessionId === null || dry_run === true ? {} : { sessionId: sessionId.toLowerCase() }),
    ...(executionId === null ? {} : { serviceExecutionId: executionId }),
    ...(detached === true ? { detached } : {}),
    ...(cache === true ? { cache } : {}),
    ...describeMost(max_cost),
    ...(dry_run === true ? { isDryRun: dry_run } : {}),
  };
}

function describeMost(given: ReadRequest["max_cost"] = null): Pick<JobFacts, "maxCost"> {
  const most = given === null ? null : parseAmount(given);
  return most === null ? {} : { maxCost: formatDecimal(most) };
}

function digestJob({ id }: GrantedVersion, body: Uint8Array): string {
  return createHash("sha256").update(`${id}\n`).update(body).digest("hex");
}

function limitTime(version: GrantedVersion, timeoutSeconds: number): GrantedVersion {
  const { service } = version;
  return { ...version, service: { ...service, policy: { ...service.policy, timeoutSeconds } } };
}
