import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { MAX_WAIT_SECONDS, SERVICE_API } from "@platform/contract/service-api";
import type { ServiceOperationId } from "@platform/contract/service-api";
import type { Executions, VersionTarget } from "../executions/executions.ts";
import type { ExecutionRecord, LogPage } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import { MAX_BODY_BYTES } from "../executions/start-body.ts";
import { parseCursor, parseListFilter } from "./list-filter.ts";
import { refuseOtherMethods, toRoutePath } from "./methods.ts";
import { requireJsonAccepted } from "./operations.ts";
import { toStatusRecord } from "./presenters.ts";
import type { Presenter } from "./presenters.ts";

/** Who calls, and what. */
export interface Caller {
  readonly owner: Owner;
  /** The version to start; throws Problem where it takes no executions. Asked by start alone. */
  readonly target: () => VersionTarget | Promise<VersionTarget>;
}

export interface ServiceApiOptions {
  /** Route prefix of the base URL, e.g. `/:serviceKey/:serviceName/:version`; empty for the local server. */
  readonly prefix: string;
  readonly executions: Executions;
  readonly presenter: Presenter;
  /** Runs before anything of the request is looked at. @throws Problem */
  readonly authorize: (request: FastifyRequest, operationId: ServiceOperationId) => Caller | Promise<Caller>;
  /** Path of the base as the caller sees it, without a final slash. */
  readonly baseOf: (request: FastifyRequest) => string;
}

interface Rendered {
  readonly body: string;
  readonly etag: string;
}

type Handler = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => unknown;

const JSON_TYPE = "application/json; charset=utf-8";

/** The six operations on executions: the same code behind the gateway, the jobs of the platform API, and the local server. */
export async function registerServiceApi(app: FastifyInstance, options: ServiceApiOptions): Promise<void> {
  await app.register(
    async (scope) => {
      scope.removeContentTypeParser("application/json");
      scope.addContentTypeParser(
        "application/json",
        { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES },
        (_request, body, done) => done(null, body),
      );
      const handlers = createHandlers(options);
      for (const id of Object.keys(handlers) as ServiceOperationId[])
        registerRoute(scope, id, handlers[id], options);
      refuseOtherMethods(scope, Object.values(SERVICE_API));
    },
    { prefix: options.prefix },
  );
}

function registerRoute(
  scope: FastifyInstance,
  id: ServiceOperationId,
  handle: Handler,
  options: ServiceApiOptions,
): void {
  const { method, path } = SERVICE_API[id];
  const callers = new WeakMap<FastifyRequest, Caller>();
  scope.route({
    method,
    url: toRoutePath(path),
    bodyLimit: MAX_BODY_BYTES,
    // Most callers are known without waiting, and polls are many: a promise is returned only where one is needed.
    onRequest: (request, _reply, done) => {
      const accept = (caller: Caller) => {
        callers.set(request, caller);
        if (id !== "startExecution") return;
        refuseIdempotencyKey(request);
        requireJsonBody(request);
      };
      try {
        requireJsonAccepted(request);
        const caller = options.authorize(request, id);
        if (caller instanceof Promise) return caller.then(accept);
        accept(caller);
      } catch (error) {
        done(error instanceof Error ? error : new Error("authorisation failed", { cause: error }));
        return undefined;
      }
      done();
      return undefined;
    },
    handler: (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error("a request reached its handler without a caller");
      return handle(request, reply, caller);
    },
  });
}

function createHandlers({
  executions,
  presenter,
  baseOf,
}: ServiceApiOptions): Readonly<Record<ServiceOperationId, Handler>> {
  const render = createRenderer();
  const waitAsPreferred = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    ownerId: string,
  ) => {
    const seconds = readWait(request);
    if (seconds === 0) return executions.state(id, ownerId);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    reply.header("preference-applied", `wait=${seconds}`);
    return executions.wait(id, ownerId, seconds, gone.signal);
  };
  const isFinished = async (id: string, ownerId: string) =>
    isFinal((await executions.state(id, ownerId)).status);
  const sendState = (request: FastifyRequest, reply: FastifyReply, record: ExecutionRecord) => {
    const { body, etag } = render(record);
    reply.header("etag", etag);
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    return reply.header("content-type", JSON_TYPE).send(body);
  };
  return {
    startExecution: async (request, reply, caller) => {
      const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const created = await executions.start(caller.owner, await caller.target(), body);
      const record =
        readWait(request) === 0
          ? created
          : await waitAsPreferred(request, reply, created.id, caller.owner.id);
      return reply
        .code(201)
        .header("location", `${baseOf(request)}/${record.id}`)
        .header("content-type", JSON_TYPE)
        .send(render(record).body);
    },
    listExecutions: async (request, reply, caller) => {
      const page = await executions.list(caller.owner.id, parseListFilter(request.query));
      if (page.nextCursor !== null)
        reply.header("link", linkNext(request, `${baseOf(request)}/`, page.nextCursor));
      return reply.header("content-type", JSON_TYPE).send(JSON.stringify(presenter.list(page)));
    },
    getState: (request, reply, caller) => {
      const id = readId(request);
      const known = executions.peek(id, caller.owner.id);
      if (known !== undefined && (isFinal(known.status) || readWait(request) === 0))
        return sendState(request, reply, known);
      return waitAsPreferred(request, reply, id, caller.owner.id).then((record) =>
        sendState(request, reply, record),
      );
    },
    getResult: async (request, reply, caller) => {
      const id = readId(request);
      // What is wrong with the id is told by the result itself.
      if (readWait(request) > 0)
        await waitAsPreferred(request, reply, id, caller.owner.id).catch(() => undefined);
      const { record, output } = await executions.result(id, caller.owner.id);
      return reply
        .header("content-type", JSON_TYPE)
        .send(presenter.result(record, output, `${baseOf(request)}/${id}`));
    },
    getLog: async (request, reply, caller) => {
      const id = readId(request);
      const cursor = parseCursor(request.query);
      const page = await executions.log(id, caller.owner.id, cursor);
      const isWhole = presenter.isLogWhole && cursor === undefined && page.nextCursor !== null;
      if (isWhole && (await isFinished(id, caller.owner.id)))
        return reply
          .header("content-type", JSON_TYPE)
          .send(Readable.from(readWholeLog(executions, id, caller.owner.id, page)));
      if (page.nextCursor !== null)
        reply.header("link", linkNext(request, `${baseOf(request)}/${id}/log`, page.nextCursor));
      return reply.header("content-type", JSON_TYPE).send(presenter.log(page));
    },
    cancelExecution: async (request, reply, caller) => {
      const record = await executions.cancel(readId(request), caller.owner.id);
      return reply.header("content-type", JSON_TYPE).send(render(record).body);
    },
  };
}

/**
 * The log of a finished execution in one answer: published clients read one, and the end of a log is where its traceback is. A page is
 * in memory at a time, and the next one is read when the caller took it.
 */
async function* readWholeLog(
  executions: Executions,
  id: string,
  ownerId: string,
  first: LogPage,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from("[");
  let isEmpty = true;
  for (
    let page: LogPage | null = first;
    page !== null;
    page = await readNextPage(executions, id, ownerId, page)
  ) {
    const lines = page.lines.subarray(1, -1);
    if (lines.length === 0) continue;
    yield isEmpty ? lines : Buffer.concat([Buffer.from(","), lines]);
    isEmpty = false;
  }
  yield Buffer.from("]");
}

async function readNextPage(
  executions: Executions,
  id: string,
  ownerId: string,
  { nextCursor }: LogPage,
): Promise<LogPage | null> {
  return nextCursor === null ? null : executions.log(id, ownerId, nextCursor);
}

/** The bytes of a status record, made once for each state that is polled. */
function createRenderer(): (record: ExecutionRecord) => Rendered {
  const rendered = new WeakMap<ExecutionRecord, Rendered>();
  return (record) => {
    const known = rendered.get(record);
    if (known !== undefined) return known;
    const body = JSON.stringify(toStatusRecord(record));
    const made = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
    rendered.set(record, made);
    return made;
  };
}

function readId(request: FastifyRequest): string {
  return (request.params as { readonly id: string }).id.toLowerCase();
}

/** Seconds of `Prefer: wait=N` (RFC 7240 4.3); 0 where there is none. */
function readWait(request: FastifyRequest): number {
  const prefer = request.headers["prefer"];
  if (prefer === undefined) return 0;
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(String(prefer));
  return wait === null ? 0 : Math.min(Number(wait[1]), MAX_WAIT_SECONDS);
}

/** A caller who sends one relies on it when they repeat the start; to ignore it would run twice what is paid once. */
function refuseIdempotencyKey(request: FastifyRequest): void {
  if (request.headers["idempotency-key"] === undefined) return;
  throw new Problem(
    "INVALID_INPUT",
    "Idempotency-Key is not supported yet: every start creates an execution of its own. Send the request without this header, and look at the list of executions before you repeat a start whose answer was lost.",
  );
}

function requireJsonBody(request: FastifyRequest): void {
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given !== "application/json") {
    throw new Problem(
      "UNSUPPORTED_MEDIA_TYPE",
      `The body must be application/json${given ? `, not ${given.slice(0, 100)}` : "; the Content-Type header is missing"}.`,
    );
  }
}

/** The Link header (RFC 8288) of a page that has another one behind it. */
function linkNext(request: FastifyRequest, path: string, cursor: string): string {
  const query = new URLSearchParams(request.query as Record<string, string>);
  query.set("cursor", cursor);
  return `<${path}?${query.toString()}>; rel="next"`;
}
