import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFinal } from "@platform/contract/execution";
import { SERVICE_API } from "@platform/contract/service-api";
import { Problem } from "@platform/contract/problems";
import type { ByteRange } from "../base/byte-range.ts";
import { chooseMediaType } from "../content/media-type.ts";
import type { Executions } from "../executions/executions.ts";
import { describeReceipt } from "../executions/receipt.ts";
import type { ReceiptIssuer } from "../executions/receipt.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import { frameResult } from "./large-result.ts";
import { linkNext, parseListFilter } from "./paging.ts";
import { mapEvents, readLastEventId } from "./event-stream.ts";
import type { SentEvents } from "./event-stream.ts";
import { renderExecutionEvent } from "./execution-events.ts";
import { registerOperations } from "./pipeline.ts";
import type { PipelineOptions } from "./pipeline.ts";
import { toStatusRecord } from "./presenters.ts";
import type { Presenter } from "./presenters.ts";
import { answerContent } from "./send-content.ts";
import type { SentContent } from "./send-content.ts";
import type { StoredFile } from "../content/result-store.ts";
import { readWait } from "./prefer.ts";
import { readParameter } from "./query.ts";
import { createBatchHandlers } from "./batch-handlers.ts";
import { createStartHandler } from "./start-execution.ts";
import type { StartOptions } from "./start-execution.ts";
import type { OperationHandlers, OperationReply } from "./types.ts";
import { waitAsPreferred } from "./wait-as-preferred.ts";
import { readWholeLog } from "./whole-log.ts";

type ServiceApi = typeof SERVICE_API;

/** How an API names callers, versions and paths; given by the gateway, the jobs of the platform API and the local server. */
export interface ExecutionHandlerOptions<C> extends StartOptions<C> {
  readonly presenter: Presenter;
  readonly receipts: ReceiptIssuer;
  /** Whether the caller may read logs. Missing: every caller may. @throws Problem FORBIDDEN */
  readonly requireLogs?: (caller: C) => void;
}

/** The handlers' options with the route and the authentication of a service API. */
export interface ServiceApiOptions<C>
  extends
    ExecutionHandlerOptions<C>,
    Pick<PipelineOptions<ServiceApi, C>, "prefix" | "authenticate" | "limit" | "streamTimes"> {}

interface Rendered {
  readonly body: string;
  readonly etag: string;
  /** Missing: it is final. */
  readonly retryAfter?: string;
}

interface Tools<C> extends ExecutionHandlerOptions<C> {
  readonly render: (record: ExecutionRecord) => Rendered;
}

type Handlers<C> = OperationHandlers<ServiceApi, C>;

/** The service API of the gateway and of the local server; the prefix is the route of the base URL, `""` for the local server. */
export async function registerServiceApi<C>(
  app: FastifyInstance,
  { prefix, authenticate, limit, streamTimes, ...options }: ServiceApiOptions<C>,
): Promise<void> {
  await registerOperations(app, SERVICE_API, {
    prefix,
    authenticate,
    ...(limit === undefined ? {} : { limit }),
    ...(streamTimes === undefined ? {} : { streamTimes }),
    roomOf: (caller) => options.ownerOf(caller).organisationId,
    handlers: createExecutionHandlers(options),
  });
}

/** The operations on executions: the same code behind the gateway, the jobs of the platform API, and the local server. */
export function createExecutionHandlers<C>(options: ExecutionHandlerOptions<C>): Handlers<C> {
  const tools = { ...options, render: createRenderer() };
  return {
    ...createStateHandlers(tools),
    ...createContentHandlers(tools),
    ...createBatchHandlers(options),
    streamEvents: createEventsHandler(tools),
  };
}

function createStateHandlers<C>(
  options: Tools<C>,
): Pick<Handlers<C>, "startExecution" | "getState" | "cancelExecution"> {
  const { executions, render, ownerOf } = options;
  return {
    startExecution: createStartHandler(options, {
      render,
      waitFor: async ({ http, reply, caller }, created) => {
        if (readWait(http) === 0) return created;
        const asked = { http, reply, id: created.id, owner: ownerOf(caller) };
        const waiting = waitAsPreferred(executions, asked);
        // What was started before may have been removed since.
        return created.isRepeated === true ? waiting.catch(() => created) : waiting;
      },
    }),
    getState: ({ http, reply, caller, params }) => {
      const asked = { http, reply, id: params.id.toLowerCase(), owner: ownerOf(caller) };
      const known = executions.peek(asked.id, asked.owner.id);
      if (known !== undefined && (isFinal(known.status) || readWait(http) === 0))
        return answerState(http, render(known));
      return waitAsPreferred(executions, asked).then((record) => answerState(http, render(record)));
    },
    cancelExecution: async ({ caller, params }) => {
      const record = await executions.cancel(params.id.toLowerCase(), ownerOf(caller).id);
      return { status: 200, body: render(record).body };
    },
  };
}

type ContentOperation = "listExecutions" | "getResult" | "getResultFile" | "getReceipt" | "getLog";

function createContentHandlers<C>({
  executions,
  presenter,
  receipts,
  ownerOf,
  baseOf,
  requireLogs,
}: Tools<C>): Pick<Handlers<C>, ContentOperation> {
  return {
    listExecutions: async ({ http, caller, query }) => {
      const page = await executions.list(ownerOf(caller).id, parseListFilter(query));
      const headers = linkNext(http, `${baseOf(http)}/`, page.nextCursor);
      return { status: 200, headers, body: JSON.stringify(presenter.list(page)) };
    },
    getResult: async ({ http, reply, caller, params }) => {
      const asked = { http, reply, id: params.id.toLowerCase(), owner: ownerOf(caller) };
      // Reading the result refuses an unknown or expired id.
      if (readWait(http) > 0) await waitAsPreferred(executions, asked).catch(() => undefined);
      const { record, output, partial } = await executions.result(asked.id, asked.owner.id);
      const url = `${baseOf(http)}/${asked.id}`;
      const large = output?.output?.result ?? null;
      if (output !== null && large !== null) {
        const content = frameResult(executions.results, large, presenter.frame(record, output, url));
        // Also 206 and 304, which no document lists: generated clients would take either for an answer without a result.
        return (await answerContent(http, content, content.tag)) as OperationReply<ServiceApi["getResult"]>;
      }
      return { status: 200, body: presenter.result(record, output ?? partial, url) };
    },
    getResultFile: async ({ caller, params }) => {
      const { output } = await executions.result(params.id.toLowerCase(), ownerOf(caller).id);
      const file = output?.output?.files.find(({ name }) => name === params.file);
      if (file === undefined) throw new Problem("NOT_FOUND", "The result has no file of this name.");
      return { status: 200, body: describeFile(executions, file) };
    },
    getReceipt: async ({ caller, params }) => {
      const { record, digests } = await executions.digests(params.id.toLowerCase(), ownerOf(caller).id);
      const version = await receipts.describeVersion(record.versionId);
      const receipt = await receipts.sign(describeReceipt(record, digests, version));
      return { status: 200, body: JSON.stringify({ receipt }) };
    },
    getLog: async ({ http, caller, params, query }) => {
      requireLogs?.(caller);
      const id = params.id.toLowerCase();
      const ownerId = ownerOf(caller).id;
      const cursor = readParameter(query, "cursor");
      const page = await executions.log(id, ownerId, cursor);
      const isWhole = presenter.isLogWhole && cursor === undefined && page.nextCursor !== null;
      if (isWhole && isFinal((await executions.state(id, ownerId)).status))
        return { status: 200, body: Readable.from(readWholeLog({ executions, id, ownerId }, page)) };
      const headers = linkNext(http, `${baseOf(http)}/${id}/log`, page.nextCursor);
      return { status: 200, headers, body: presenter.log(page) };
    },
  };
}

function createEventsHandler<C>({
  executions,
  render,
  ownerOf,
  requireLogs,
}: Tools<C>): Handlers<C>["streamEvents"] {
  return ({ http, caller, params }) => {
    const areLogsShown = mayReadLogs(requireLogs, caller);
    const position = readLastEventId(http);
    const owner = ownerOf(caller);
    const { events, stop } = executions.follow({
      id: params.id.toLowerCase(),
      owner,
      ...(areLogsShown ? {} : { logPosition: null }),
      ...(areLogsShown && position !== undefined ? { logPosition: position } : {}),
    });
    const body: SentEvents<C> = {
      events: mapEvents(events, (event) => renderExecutionEvent(event, (record) => render(record).body)),
      stop,
      requireStill: (known) => {
        // Of another subscription, since the first one has ended.
        if (ownerOf(known).id !== owner.id) throw new Problem("EXECUTION_NOT_FOUND");
        // A stream goes on with what it has begun with, or not at all.
        if (areLogsShown) requireLogs?.(known);
      },
    };
    // The pipeline hands its own callers back.
    return { status: 200, body: body as SentEvents };
  };
}

function mayReadLogs<C>(requireLogs: Tools<C>["requireLogs"], caller: C): boolean {
  try {
    requireLogs?.(caller);
    return true;
  } catch {
    return false;
  }
}

function describeFile({ results }: Executions, { name, hash, bytes }: StoredFile): SentContent {
  const content = { hash, bytes, open: (range: ByteRange) => results.read(hash, range) };
  return { content, name, type: chooseMediaType(name) };
}

function answerState(
  request: FastifyRequest,
  { body, etag, retryAfter }: Rendered,
): OperationReply<ServiceApi["getState"]> {
  const headers = retryAfter === undefined ? { etag } : { etag, "retry-after": retryAfter };
  return request.headers["if-none-match"] === etag
    ? { status: 304, headers }
    : { status: 200, headers, body };
}

/** The bytes of a status record, serialised once for each state that is polled. */
function createRenderer(): (record: ExecutionRecord) => Rendered {
  const rendered = new WeakMap<ExecutionRecord, Rendered>();
  return (record) => {
    const known = rendered.get(record);
    if (known !== undefined) return known;
    const body = JSON.stringify(toStatusRecord(record));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const { retryAfterSeconds } = record;
    const made =
      retryAfterSeconds === undefined
        ? { body, etag }
        : { body, etag, retryAfter: String(retryAfterSeconds) };
    rendered.set(record, made);
    return made;
  };
}
