import { Problem } from "@platform/contract/problems";
import { MOST_SESSION_SECONDS } from "@platform/contract/quantum-api/sessions";
import type { SESSIONS_API } from "@platform/contract/quantum-api/sessions";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { OperationHandlers } from "@platform/engine/http/types";
import { findExcess } from "@platform/engine/input-schema/bounds";
import { toJobOwner } from "@platform/engine/store/owner";
import type { PlatformCaller } from "../api/caller.ts";
import type { SessionRecord } from "../store/quantum-sessions.ts";
import { OWN_PROVIDER, requireBackend } from "./backend-handlers.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import { listJobs } from "./list-jobs.ts";
import { toQuantumJob } from "./job-view.ts";
import { readPage, toPage } from "./pages.ts";
import { executionOf } from "./service-caller.ts";
import { jobToWorkload, sessionToWorkload, toQuantumSession, toSessionState } from "./session-view.ts";

type Handlers = OperationHandlers<typeof SESSIONS_API, PlatformCaller>;

/** Handlers of sessions, and of lists of jobs and sessions. */
export function createSessionHandlers(deps: QuantumJobDeps): Handlers {
  const { quantumSessions: sessions } = deps;
  const require = async (caller: PlatformCaller, id: string): Promise<SessionRecord> =>
    requireOwn(caller, await sessions.find({ organisationId: caller.organisationId, id }));
  const close = async (caller: PlatformCaller, sessionId: string): Promise<void> => {
    const { id } = await require(caller, sessionId);
    await sessions.close({ organisationId: caller.organisationId, id });
  };
  return {
    createQuantumSession: createOpen(deps, require),
    getQuantumSession: async ({ caller, params }) => ({
      status: 200,
      body: toQuantumSession(await require(caller, params.id)),
    }),
    getQuantumSessionStatus: async ({ caller, params: { id } }) => {
      const standing = await sessions.findStanding({ organisationId: caller.organisationId, id });
      return { status: 200, body: { status: toSessionState(requireOwn(caller, standing)) } };
    },
    listQuantumSessionJobs: async ({ caller, params, query }) => {
      const { id } = await require(caller, params.id);
      const serviceExecutionId = executionOf(caller) ?? query.serviceExecutionId;
      const asked = { ...query, sessionId: id, serviceExecutionId };
      return { status: 200, body: await listJobs(deps, caller, asked) };
    },
    patchQuantumSession: createPatch(deps, require),
    closeQuantumSession: async ({ caller, params }) => {
      await close(caller, params.id);
      return { status: 204 };
    },
    cancelQuantumSession: async ({ caller, params }) => {
      const { id } = await require(caller, params.id);
      await sessions.cancel({ organisationId: caller.organisationId, id });
      await cancelJobs(deps, caller, id);
      return { status: 204 };
    },
    listQuantumWorkloads: createWorkloads(deps),
    getQuantumRuntimeMinutes: async () => ({ status: 200, body: { allowances: [] } }),
  };
}

const NO_SESSION = "There is no such session.";

/** An execution sees its own alone. @throws Problem NOT_FOUND */
function requireOwn<S extends Pick<SessionRecord, "serviceExecutionId">>(
  caller: PlatformCaller,
  found: S | null,
): S {
  const own = executionOf(caller);
  if (found === null || (own !== null && found.serviceExecutionId !== own))
    throw new Problem("NOT_FOUND", NO_SESSION);
  return found;
}

type RequireSession = (caller: PlatformCaller, id: string) => Promise<SessionRecord>;

function createPatch(
  { quantumSessions: sessions }: QuantumJobDeps,
  require: RequireSession,
): Handlers["patchQuantumSession"] {
  return async ({ caller, params, body }) => {
    const { id } = await require(caller, params.id);
    const { organisationId } = caller;
    if (!(await sessions.setAccepting({ organisationId, id }, body.accept_jobs)))
      throw new Problem("CONFLICT", "The session is closed.");
    return { status: 200, body: toQuantumSession(await require(caller, id)) };
  };
}

async function cancelJobs(
  { quantumSessions: sessions, executions }: QuantumJobDeps,
  { organisationId }: PlatformCaller,
  sessionId: string,
): Promise<void> {
  const owner = toJobOwner(organisationId);
  for (const id of await sessions.listUnended({ organisationId, id: sessionId }))
    await executions.cancel(id, owner.id);
}

function createOpen(
  { backends, quantumSessions, prefix }: QuantumJobDeps,
  require: RequireSession,
): Handlers["createQuantumSession"] {
  return async ({ caller, body }) => {
    const metadata = body.metadata ?? {};
    const excess = findExcess(metadata);
    if (excess !== null) throw new Problem("INVALID_INPUT", `metadata ${excess}.`);
    const backend = await requireBackend(backends, caller.organisationId, body.backend_id);
    const id = createUuidV7();
    const executionId = executionOf(caller);
    await quantumSessions.create({
      id,
      organisationId: caller.organisationId,
      backendId: backend.id,
      aliasOf: backend.aliasOf,
      provider: backend.description.provider ?? OWN_PROVIDER,
      serviceKey: backend.serviceKey,
      versionId: backend.version.id,
      mode: body.mode ?? "batch",
      metadata,
      sdkProvider: body.sdk_provider ?? null,
      createdBy: executionId === null ? caller.userId : null,
      serviceExecutionId: executionId,
      seconds: body.ttl ?? MOST_SESSION_SECONDS,
    });
    const session = toQuantumSession(await require(caller, id));
    return { status: 201, headers: { location: `${prefix}/sessions/${id}` }, body: session };
  };
}

function createWorkloads({
  quantumSessions: sessions,
  quantumJobs,
  searches,
}: QuantumJobDeps): Handlers["listQuantumWorkloads"] {
  type Query = Parameters<Handlers["listQuantumWorkloads"]>[0]["query"];
  const list = async ({ organisationId }: PlatformCaller, query: Query) => {
    const { items, total } = await sessions.listWorkloads(organisationId, {
      ...readPage(query),
      type: query.type,
    });
    const idsOf = (wanted: string) => items.flatMap(({ type, id }) => (type === wanted ? [id] : []));
    const ids = idsOf("JOB");
    const jobs = await quantumJobs.list(organisationId, { ids }, { offset: 0, limit: ids.length });
    const shown = new Map(
      [
        ...jobs.items.map((item) => jobToWorkload(toQuantumJob(item, item.facts))),
        ...(await sessions.list(organisationId, idsOf("SESSION"))).map(sessionToWorkload),
      ].map((workload) => [workload.id, workload]),
    );
    const content = items.flatMap(({ id }) => shown.get(id) ?? []);
    return toPage(content, total, query);
  };
  return async ({ caller, query }) => {
    const body = await searches.admit(caller, async () => await list(caller, query));
    return { status: 200, body };
  };
}
