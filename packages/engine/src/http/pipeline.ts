import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  onRequestHookHandler,
} from "fastify";
import type { Operation, OperationTable, RateClass } from "@platform/contract/operation";
import { readMonotonic } from "../base/monotonic.ts";
import { requireBodyType, requireAccepted } from "./accept.ts";
import { allowUpload } from "./body-deadline.ts";
import { pickBody, readBodiesAs } from "./bodies.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { refuseOtherMethods, toRoutePath } from "./methods.ts";
import { sendOAuthProblem } from "./oauth-problem.ts";
import { observeAs } from "./observe-requests.ts";
import { STREAM_TIMES, createStreamKeeper, sendEvents } from "./event-stream.ts";
import type { SentEvents, StreamKeeper, StreamTimes } from "./event-stream.ts";
import { sendContent } from "./send-content.ts";
import type { SentContent } from "./send-content.ts";
import { createBodyRoom } from "./body-room.ts";
import type { BodyRoom, BodyShare } from "./body-room.ts";
import type { AuditStage, OperationHandlers, OperationReply, OperationRequest } from "./types.ts";
import { describeChecks } from "./validation.ts";

/** The handlers of an API and the checks before them. `C` is the API's type of a caller. */
export interface PipelineOptions<T extends OperationTable, C> {
  /** Path of the API, prefixed to the paths of its rows; may have parameters. */
  readonly prefix: string;
  /** Identifies the caller of an operation. Returns without a promise where it can: most requests are polls. @throws Problem */
  readonly authenticate: (request: FastifyRequest, operation: Operation) => C | Promise<C>;
  /**
   * Whether the caller may call this operation. Missing: all callers may, and no row may ask for more.
   * @throws Problem FORBIDDEN
   */
  readonly authorize?: (caller: C, operation: Operation) => void;
  /**
   * Whether the caller may make another request of this class now; may set headers of the answer. Returns without a promise where it can.
   *
   * @throws Problem RATE_LIMITED, with Retry-After
   */
  readonly limit?: (caller: C, rate: RateClass, reply: FastifyReply) => void | Promise<void>;
  /** Writes down who changes what. Missing: nobody does. */
  readonly audit?: AuditStage<C>;
  /** Checks that apply to all operations besides their schemas. @throws Problem INVALID_INPUT */
  readonly validate?: (request: FastifyRequest) => void;
  /** Whose large bodies are counted together. Missing: those of all callers are. */
  readonly roomOf?: (caller: C) => string;
  /** Of streams of events; default `STREAM_TIMES`. */
  readonly streamTimes?: StreamTimes;
  readonly handlers: OperationHandlers<T, C>;
}

interface Guards<C> extends Omit<PipelineOptions<OperationTable, C>, "prefix" | "handlers" | "streamTimes"> {
  readonly keeper: StreamKeeper;
  readonly room: BodyRoom;
}

const CALLER = "caller";
/** What a request with a large body has of the room; null: nothing. */
const SHARE = "bodyShare";
const ADMITTED_AT = "admittedAt";
/** Who has sent the head of a request may have lost what they had when its body is there, up to two minutes later: then it is asked again. */
const ADMITTED_FOR_MS = 500;
const JSON_TYPE = "application/json; charset=utf-8";

/**
 * Turns every row of an operation table into a route. A request passes these stages, each of which is configured by the row:
 *
 * 1. before its body is read (`createGate`): accept, authenticate, authorise, limit, idempotency;
 * 2. read the body as `bodyMode` says (`readBodiesAs`), and validate path, query and body (`describeChecks`);
 * 3. admit again where the body took long, handle, write the audit log's entry with the change or before the answer, and answer as
 *    `answerMode` says (`createHandler`).
 */
export async function registerOperations<T extends OperationTable, C>(
  app: FastifyInstance,
  table: T,
  options: PipelineOptions<T, C>,
): Promise<void> {
  const { prefix, handlers, streamTimes = STREAM_TIMES, ...given } = options;
  const keeper = createStreamKeeper(streamTimes);
  // Before the server waits for its connections.
  app.addHook("preClose", async () => keeper.close());
  const guards = { ...given, keeper, room: createBodyRoom() };
  await app.register(
    async (scope) => {
      scope.decorateRequest(CALLER, null);
      scope.decorateRequest(ADMITTED_AT, 0);
      scope.decorateRequest(SHARE, null);
      // Of a request that has not come to its handler.
      scope.addHook("onResponse", async (request) => takeShare(request)?.close());
      const modes = new Set(Object.values(table).map(({ bodyMode }) => bodyMode));
      for (const mode of modes)
        await scope.register(async (routes) => {
          readBodiesAs(routes, mode, (request) => request.getDecorator<BodyShare>(SHARE));
          for (const [id, operation] of Object.entries(table))
            if (operation.bodyMode === mode)
              registerRoute(routes, { id, operation }, handlers[id] as unknown as AnyHandler<C>, guards);
        });
      refuseOtherMethods(scope, Object.values(table));
    },
    { prefix },
  );
}

/** A handler without the types of its row: the previous stages have ensured that the request matches the row. */
type AnyHandler<C> = (request: OperationRequest<Operation, C>) => Reply | Promise<Reply>;

type Reply = OperationReply<Operation> & { readonly body?: unknown; readonly events?: SentEvents };

function registerRoute<C>(
  scope: FastifyInstance,
  { id, operation }: { readonly id: string; readonly operation: Operation },
  handle: AnyHandler<C>,
  guards: Guards<C>,
): void {
  const asksMore = operation.allows !== "caller" && operation.allows !== "public";
  if (asksMore && guards.authorize === undefined)
    throw new Error(
      `${operation.method} ${operation.path} allows "${operation.allows}", and nothing decides who may.`,
    );
  scope.route({
    method: operation.method,
    url: toRoutePath(operation.path),
    onRequest: createGate(operation, guards, observeAs(scope, id)),
    ...(operation.acceptsForm ? { errorHandler: sendOAuthProblem } : {}),
    ...describeChecks(operation, guards.validate),
    handler: createHandler(operation, handle, guards),
  });
}

/** Runs before the body is read, so that a refused request costs its head only. Returns a promise only where it has to wait. */
function createGate<C>(
  operation: Operation,
  guards: Guards<C>,
  observe: ReturnType<typeof observeAs>,
): onRequestHookHandler {
  const { rate, bodyMode } = operation;
  const isUpload = bodyMode === "stream" || bodyMode === "file";
  const complete = (request: FastifyRequest, caller: C): void => {
    if (rate === "start") readIdempotencyKey(request);
    requireBodyType(request, operation);
    if (isUpload) allowUpload(request.raw);
    request.setDecorator(CALLER, caller);
    request.setDecorator(ADMITTED_AT, readMonotonic());
    if (bodyMode === "batch") request.setDecorator(SHARE, guards.room.open(guards.roomOf?.(caller) ?? ""));
  };
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: C): void | Promise<void> => {
    const refusing = requireRights(operation, guards, { request, caller });
    if (refusing !== undefined) return refusing;
    const waiting = guards.limit?.(caller, rate, reply);
    if (waiting !== undefined) return waiting.then(() => complete(request, caller));
    return complete(request, caller);
  };
  if (operation.allows === "public") return createPublicGate(operation, observe);
  return (request, reply, done) => {
    observe(request);
    try {
      requireAccepted(request, operation);
      const caller = guards.authenticate(request, operation);
      if (caller instanceof Promise) return caller.then((known: C) => admit(request, reply, known));
      const refusal = admit(request, reply, caller);
      if (refusal !== undefined) return refusal;
    } catch (error) {
      done(error instanceof Error ? error : new Error("a request could not be admitted", { cause: error }));
      return undefined;
    }
    done();
    return undefined;
  };
}

/** Resolves never: the refusal is thrown when it is written. @throws Problem FORBIDDEN */
function requireRights<C>(
  operation: Operation,
  { authorize, audit }: Guards<C>,
  { request, caller }: { readonly request: FastifyRequest; readonly caller: C },
): Promise<never> | undefined {
  try {
    authorize?.(caller, operation);
    return undefined;
  } catch (error) {
    if (audit === undefined || operation.audit === null) throw error;
    return audit.refuse({ operation, caller, request }, error).then(() => {
      throw error;
    });
  }
}

/** Who calls, as of now. @throws Problem */
async function admitAgain<C>(operation: Operation, guards: Guards<C>, request: FastifyRequest): Promise<C> {
  const caller = await guards.authenticate(request, operation);
  await requireRights(operation, guards, { request, caller });
  return caller;
}

/** Nobody is asked who they are: what such an operation does for whom is its handler's. */
function createPublicGate(operation: Operation, observe: ReturnType<typeof observeAs>): onRequestHookHandler {
  return (request, _reply, done) => {
    observe(request);
    try {
      requireAccepted(request, operation);
      requireBodyType(request, operation);
    } catch (error) {
      done(error instanceof Error ? error : new Error("a request could not be admitted", { cause: error }));
      return;
    }
    done();
  };
}

/** What a request has of the room: its handler gives it back, as the caller may have gone before it has done with the body. */
function takeShare(request: FastifyRequest): BodyShare | null {
  const share = request.getDecorator<BodyShare | null>(SHARE);
  request.setDecorator(SHARE, null);
  return share;
}

function createHandler<C>(
  operation: Operation,
  handle: AnyHandler<C>,
  guards: Guards<C>,
): RouteHandlerMethod {
  const { bodyMode, answerMode, allows } = operation;
  const { audit, keeper } = guards;
  const isRecorded = operation.audit !== null && operation.rate !== "start";
  const isAskedAgain = allows !== "public" && bodyMode !== "none";
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Reply,
  ): FastifyReply | Promise<FastifyReply> => {
    if (answerMode === "content") return sendContent(request, reply, answer.body as SentContent);
    const events = answerMode === "events" ? (answer.body as SentEvents) : answer.events;
    if (events !== undefined) {
      const requireStill = async () => {
        const caller = allows === "public" ? null : await admitAgain(operation, guards, request);
        events.requireStill?.(caller);
      };
      return sendEvents(request, reply, events, { keeper, requireStill });
    }
    reply.code(answer.status);
    if (answer.headers !== undefined) reply.headers(answer.headers);
    if (answerMode === "bytes" && answer.body !== undefined) reply.header("content-type", JSON_TYPE);
    return reply.send(answer.body);
  };
  const run = (request: FastifyRequest, reply: FastifyReply, caller: C): Reply | Promise<Reply> => {
    const given = {
      params: request.params as undefined,
      query: request.query as undefined,
      body: pickBody(request, operation) as undefined,
      caller,
      http: request,
      reply,
      requireStill: () => admitAgain(operation, guards, request).then(() => undefined),
    };
    if (!isRecorded || audit === undefined) return handle(given);
    return audit.record({ operation, caller, request }, () => handle(given));
  };
  return (request, reply) => {
    const share = takeShare(request);
    const isLate =
      isAskedAgain && readMonotonic() - request.getDecorator<number>(ADMITTED_AT) > ADMITTED_FOR_MS;
    const answer = isLate
      ? admitAgain(operation, guards, request).then((caller) => run(request, reply, caller))
      : run(request, reply, request.getDecorator<C>(CALLER));
    if (answer instanceof Promise) {
      const answered = share === null ? answer : answer.finally(share.close);
      return answered.then((given) => send(request, reply, given));
    }
    const sent = send(request, reply, answer);
    return sent instanceof Promise ? sent : undefined;
  };
}
