import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { NOTHING_AT } from "@platform/contract/nothing-at";
import { Problem, PROBLEMS } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import { SECOND } from "../base/time.ts";
import { limitBodies, REQUEST_TIMES } from "./body-deadline.ts";
import type { RequestTimes } from "./body-deadline.ts";
import { VALIDATION } from "./body-check.ts";
import { sendProblem, toProblem } from "./errors.ts";
import { LAZY_COMPILERS } from "./lazy-schemas.ts";
import { refuseOtherMethods, supportAllMethods } from "./methods.ts";
import { observeRequests } from "./observe-requests.ts";
import { NO_HTTP_OBSERVER } from "./request-observer.ts";
import type { HttpObserver } from "./request-observer.ts";

/** Default size limit of a JSON body in bytes. */
const DEFAULT_BODY_BYTES = 256 * 1024;

/** What a process depends on. */
export const READINESS_PARTS = ["process", "database", "disk", "worker", "objects"] as const;

/** A part of this process that cannot do its work. */
export interface ReadinessFault {
  readonly part: (typeof READINESS_PARTS)[number];
  /** Names the fault where a part has several, for programs. */
  readonly code?: string;
  /** What is wrong and what to do, in full sentences. */
  readonly detail: string;
  /** `unready`: the process should get no requests (503). `degraded`: requests are still served (200, and the part is named). */
  readonly effect: "unready" | "degraded";
}

/** What differs between the servers of the gateway, the platform API and the CLI. */
export interface HttpServerOptions {
  readonly logger: FastifyBaseLogger;
  /** Returns the parts that cannot do their work, for `GET /readyz`. Missing: always ready. */
  readonly findFaults?: () => Promise<readonly ReadinessFault[]>;
  /** What `GET /readyz` says besides the status. Missing: nothing. */
  readonly describe?: () => Readonly<Record<string, unknown>>;
  /** Default `REQUEST_TIMES`. */
  readonly times?: RequestTimes;
  /** Missing: nobody counts the requests. */
  readonly observer?: HttpObserver;
}

/**
 * A server whose errors all have the shape `{code, detail}`. Repeated slashes count as one, a final slash does not
 * matter, nothing is redirected, and nothing in a body is coerced or removed.
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const times = options.times ?? REQUEST_TIMES;
  const app: FastifyInstance = Fastify({
    http: {
      headersTimeout: times.headMs,
      connectionsCheckingInterval: Math.min(times.headMs, times.bodyMs, 30 * SECOND),
    },
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: DEFAULT_BODY_BYTES,
    genReqId: createRequestIds(),
    forceCloseConnections: "idle",
    keepAliveTimeout: 75 * SECOND,
    connectionTimeout: 0,
    // The time for the body is limited by limitBodies.
    requestTimeout: 0,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 500 },
    ajv: { customOptions: VALIDATION },
    schemaController: { compilersFactory: LAZY_COMPILERS },
    frameworkErrors: (error, request, reply) => void sendProblem(toProblem(error, request), request, reply),
    clientErrorHandler,
  });
  limitBodies(app.server, times, endLateRequest);
  app.server.on("checkExpectation", refuseExpectation);
  supportAllMethods(app);
  app.removeAllContentTypeParsers();
  observeRequests(app, options.observer ?? NO_HTTP_OBSERVER);
  app.setErrorHandler((error, request, reply) => sendProblem(toProblem(error, request), request, reply));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem("NOT_FOUND", `${NOTHING_AT}${request.url.slice(0, 200)}.`), request, reply),
  );
  app.get("/healthz", async () => ({ status: "alive" }));
  app.get("/readyz", async () => {
    const faults = (await options.findFaults?.()) ?? [];
    const unready = faults.find(({ effect }) => effect === "unready");
    if (unready !== undefined)
      throw new Problem("UNAVAILABLE", `Not ready (${unready.part}): ${unready.detail}`, {
        headers: { "retry-after": "1" },
      });
    const described = options.describe?.();
    if (faults.length === 0) return { status: "ready", ...described };
    return { status: "degraded", ...described, faults: faults.map(({ effect: _effect, ...fault }) => fault) };
  });
  refuseOtherMethods(app, [
    { method: "GET", path: "/healthz" },
    { method: "GET", path: "/readyz" },
  ]);
  return app;
}

/** Request ids that are unique among all processes, without new random numbers for every request. */
function createRequestIds(): () => string {
  const prefix = randomUUID();
  let count = 0;
  return () => `${prefix}-${(count += 1)}`;
}

/** Answers what Node refuses before there is a request: invalid HTTP, headers that are too large or arrive too slowly. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  if (error.code === "HPE_HEADER_OVERFLOW")
    return endWith(
      socket,
      "431 Request Header Fields Too Large",
      "INVALID_INPUT",
      "The head of the request is too large.",
    );
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return endWithTimeout(socket);
  endWith(socket, "400 Bad Request", "INVALID_INPUT", "The request is not valid HTTP.");
}

/** Node answers `Expect: 100-continue`; no other expectation (RFC 9110, section 10.1.1) is supported. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({
    code: "INVALID_INPUT",
    detail: "The Expect header names an expectation that is not supported; only 100-continue is.",
  });
  const headers = { "content-type": "application/json", "content-length": body.length, connection: "close" };
  response.writeHead(417, headers).end(body);
}

function endLateRequest(socket: Socket, response: ServerResponse): void {
  if (response.headersSent || !socket.writable) return void socket.destroy();
  endWithTimeout(socket);
}

function endWithTimeout(socket: Socket): void {
  endWith(socket, "408 Request Timeout", "REQUEST_TIMEOUT", PROBLEMS.REQUEST_TIMEOUT.detail);
}

function endWith(socket: Socket, status: string, code: ProblemCode, detail: string): void {
  const body = JSON.stringify({ code, detail });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
