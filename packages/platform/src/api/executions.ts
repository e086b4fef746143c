import { formatTimestamp, isFinal } from "@platform/contract/execution";
import { can } from "@platform/contract/permissions";
import type {
  EXECUTIONS_API,
  ExecutionDetails,
  ExecutionSummary,
} from "@platform/contract/platform-api/executions";
import { PLATFORM_API_PREFIX } from "@platform/contract/platform-api/openapi";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import { Problem } from "@platform/contract/problems";
import type { Executions } from "@platform/engine/executions/executions";
import { isRecord } from "@platform/engine/base/json";
import { readPage, readTime } from "@platform/engine/http/paging";
import { hostedPresenter, toAttempts } from "@platform/engine/http/presenters";
import { refuseParameter } from "@platform/engine/http/query";
import { createExecutionHandlers } from "@platform/engine/http/service-api";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import type { HistoryDetails } from "../store/history/find.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { HistoryEntry } from "../store/history/list.ts";
import type { Asker, HistoryFilter } from "../store/history/scope.ts";
import type { PlatformCaller } from "./caller.ts";
import type { FairGate } from "../base/fair-gate.ts";

/** As callers see it, without a final slash. */
export const EXECUTIONS_PATH = `${PLATFORM_API_PREFIX}/executions`;

type Handlers = OperationHandlers<typeof EXECUTIONS_API, PlatformCaller>;

/** What the handlers work with. */
export interface ExecutionDeps {
  readonly history: HistoryStore;
  readonly executions: Executions;
  readonly receipts: ReceiptIssuer;
  readonly searches: FairGate;
}

/** Handlers of all executions that concern an organisation. */
export function createOrganisationExecutionHandlers(deps: ExecutionDeps): Handlers {
  return { ...createReaders(deps), ...createContentReaders(deps) };
}

function createReaders({
  history,
  executions,
  searches,
}: ExecutionDeps): Pick<Handlers, "listExecutions" | "getExecution" | "locateExecution" | "getExecutionLog"> {
  return {
    listExecutions: async ({ caller, query }) => {
      const wanted = { ...readPage(query), ...readFilter(query) };
      const page = await searches.admit(caller, () => history.list(toAsker(caller), wanted));
      const { nextCursor, isComplete } = page;
      const items = page.items.map((entry) => toSummary(entry, Date.now()));
      return { status: 200, body: { items, nextCursor, isComplete } };
    },
    getExecution: async ({ caller, params }) => {
      const found = await requireFound(history, caller, params.id);
      const record = await executions.state(found.id, found.ownerId);
      return { status: 200, body: toDetails(found, record, caller.actor.isOperator) };
    },
    locateExecution: async ({ caller, params }) => {
      const found = await history.locate(caller.userId, params.id);
      if (found === null) throw new Problem("EXECUTION_NOT_FOUND");
      const { organisationId: organizationId, slug: organizationSlug, kind } = found;
      return { status: 200, body: { organizationId, organizationSlug, kind } };
    },
    getExecutionLog: async ({ caller, params, query: { after, tail } }) => {
      if (after !== undefined && tail !== undefined) throw refuseParameter("tail", 'excludes "after"');
      const found = await requireFound(history, caller, params.id);
      requireLog(found);
      // Before the lines: those of one that has ended are all there.
      const record = await executions.state(found.id, found.ownerId);
      if ((record.logExpiresAt ?? Infinity) <= Date.now()) throw new Problem("LOG_EXPIRED");
      const key = { organisationId: caller.organisationId, id: found.id };
      const { lines, next, isMore } = await history.readLines(key, tail === undefined ? { after } : { tail });
      const nextSeq = isFinal(record.status) && !isMore ? null : next;
      return { status: 200, body: { items: [...lines], nextSeq } };
    },
  };
}

/** The handlers of the service API, for an execution that was found. */
function createHandlersOfFound(executions: Executions, receipts: ReceiptIssuer) {
  return createExecutionHandlers<HistoryDetails>({
    executions,
    receipts,
    presenter: hostedPresenter,
    ownerOf: ({ ownerId, subscriptionId }) => ({
      kind: subscriptionId === null ? "organisation" : "subscription",
      id: ownerId,
      organisationId: ownerId,
    }),
    targetOf: () => {
      throw new Error("Executions are not started here.");
    },
    baseOf: () => EXECUTIONS_PATH,
  });
}

function createContentReaders({
  history,
  executions,
  receipts,
}: ExecutionDeps): Pick<
  Handlers,
  "getExecutionInput" | "getExecutionResult" | "listResultFiles" | "downloadResultFile"
> {
  const handlers = createHandlersOfFound(executions, receipts);
  const findOwn = async (caller: PlatformCaller, id: string): Promise<HistoryDetails> => {
    const found = await requireFound(history, caller, id);
    if (found.kind === "incoming") throw new Problem("NOT_SHARED");
    return found;
  };
  return {
    getExecutionInput: async ({ caller, params }) => {
      const found = await findOwn(caller, params.id);
      await executions.state(found.id, found.ownerId);
      const body = await history.readInput({ organisationId: caller.organisationId, id: found.id });
      if (body === null) throw new Problem("INPUT_EXPIRED");
      return { status: 200, body: body.byteLength === 0 ? "{}" : body };
    },
    getExecutionResult: async (request) =>
      handlers.getResult({ ...request, caller: await findOwn(request.caller, request.params.id) }),
    listResultFiles: async ({ caller, params }) => {
      const found = await findOwn(caller, params.id);
      const { output } = await executions.result(found.id, found.ownerId);
      const items = (output?.output?.files ?? []).map(({ name, bytes }) => ({
        name,
        bytes,
        href: `${EXECUTIONS_PATH}/${found.id}/result/${encodeURIComponent(name)}`,
      }));
      return { status: 200, body: { items } };
    },
    downloadResultFile: async (request) =>
      handlers.getResultFile({ ...request, caller: await findOwn(request.caller, request.params.id) }),
  };
}

/** One that concerns the caller's organisation. @throws Problem EXECUTION_NOT_FOUND */
export async function requireFound(
  history: HistoryStore,
  caller: PlatformCaller,
  id: string,
): Promise<HistoryDetails> {
  const found = await history.find(toAsker(caller), id);
  if (found === null) throw new Problem("EXECUTION_NOT_FOUND");
  return found;
}

/** Whether its log may be read. @throws Problem NOT_SHARED, FORBIDDEN */
export function requireLog({ kind, isLogShown, serviceName }: HistoryDetails): void {
  if (isLogShown) return;
  if (kind === "incoming")
    throw new Problem("NOT_SHARED", "The subscription does not share its logs with the provider.");
  throw new Problem(
    "FORBIDDEN",
    `The provider of ${serviceName} does not show logs to subscribers. Ask the provider about this execution.`,
  );
}

/** Who asks, as the store knows it. */
export function toAsker({ organisationId, actor }: PlatformCaller): Asker {
  return { organisationId, areSubscribersShown: can(actor, SUBSCRIPTIONS_API.listServiceSubscriptions) };
}

/** A filter as the operations have it: times are texts. */
interface FilterQuery extends Omit<HistoryFilter, "createdAfter" | "createdBefore"> {
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
}

/** `place`: of the filter in the request. @throws Problem INVALID_INPUT */
export function readFilter(query: FilterQuery, place = ""): HistoryFilter {
  const { kind, status, serviceKey, version, applicationId, code, minRanMs, q } = query;
  return {
    kind,
    status,
    serviceKey,
    version,
    applicationId,
    code,
    minRanMs,
    q,
    createdAfter: readTime(`${place}createdAfter`, query.createdAfter),
    createdBefore: readTime(`${place}createdBefore`, query.createdBefore),
  };
}

function toSummary(entry: HistoryEntry, now: number): ExecutionSummary {
  const { id, kind, status, version, subscriptionId, createdAt, startedAt, endedAt, code } = entry;
  const application = toApplication(entry);
  return {
    id,
    kind,
    status,
    terminal: isFinal(status),
    service: { key: entry.serviceKey, name: entry.serviceName },
    version,
    ...(application === null ? {} : { application }),
    ...(subscriptionId === null ? {} : { subscriptionId }),
    createdAt: formatTimestamp(createdAt),
    ...(startedAt === null ? {} : { startedAt: formatTimestamp(startedAt) }),
    ...(endedAt === null ? {} : { endedAt: formatTimestamp(endedAt) }),
    waitedMs: spanOf(createdAt, startedAt ?? endedAt ?? now),
    ...(startedAt === null ? {} : { ranMs: spanOf(startedAt, endedAt ?? now) }),
    ...(code === null ? {} : { code }),
  };
}

/** The clock may have been set between two times. */
function spanOf(from: number, to: number): number {
  return Math.max(0, Math.round(to - from));
}

function toApplication({
  applicationId,
  applicationName,
  organisationName,
}: HistoryEntry): NonNullable<ExecutionSummary["application"]> | null {
  if (applicationId === null) return null;
  return {
    id: applicationId,
    ...(applicationName === null ? {} : { name: applicationName }),
    ...(organisationName === null ? {} : { organizationName: organisationName }),
  };
}

function toDetails(found: HistoryDetails, record: ExecutionRecord, isOperator: boolean): ExecutionDetails {
  const { kind, isLogShown, workerId, cpuMicros, inputBytes, resultBytes, detail } = found;
  const { expiresAt, logExpiresAt } = record;
  const isOwn = kind !== "incoming";
  return {
    ...toSummary(found, Date.now()),
    ...(detail !== null && (isOwn || isLogShown) ? { detail } : {}),
    ...describeAttempts(found, record),
    ...(workerId !== null && isOperator ? { workerId } : {}),
    isCancelRequested: found.isCancelRequested,
    resources: record.resources,
    timeoutSeconds: found.timeoutSeconds,
    ...(cpuMicros === null ? {} : { cpuMs: Math.round(cpuMicros / 1000) }),
    ...readPeak(found),
    ...(inputBytes === null ? {} : { inputBytes }),
    ...(resultBytes === null ? {} : { resultBytes }),
    fileCount: found.fileCount,
    areContentsShown: isOwn,
    isLogShown,
    ...(expiresAt === undefined ? {} : { expiresAt: formatTimestamp(expiresAt) }),
    ...(logExpiresAt === undefined ? {} : { logExpiresAt: formatTimestamp(logExpiresAt) }),
  };
}

function describeAttempts(
  { attempt, kind, isLogShown }: HistoryDetails,
  record: ExecutionRecord,
): Pick<ExecutionDetails, "attempt" | "attempts"> {
  const attempts = toAttempts(record).map(({ detail, ...known }) =>
    detail !== undefined && (kind !== "incoming" || isLogShown) ? { ...known, detail } : known,
  );
  return { ...(attempt === null ? {} : { attempt }), ...(attempts.length === 0 ? {} : { attempts }) };
}

/** What the platform has measured is part of the metadata: `_usage`. */
function readPeak({ metadata, failureMetadata }: HistoryDetails): { readonly peakMemoryBytes?: number } {
  const all: unknown = failureMetadata ?? (metadata === null ? null : JSON.parse(metadata.toString()));
  const usage = isRecord(all) ? all["_usage"] : undefined;
  const peak = isRecord(usage) ? usage["peakMemoryBytes"] : undefined;
  return typeof peak === "number" && Number.isSafeInteger(peak) && peak >= 0 ? { peakMemoryBytes: peak } : {};
}
