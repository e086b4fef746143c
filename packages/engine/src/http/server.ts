import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { Problem } from "@platform/contract/problems";
import { sendProblem, toProblem } from "./errors.ts";

/** The largest JSON body of an operation that says nothing else. */
const DEFAULT_BODY_BYTES = 256 * 1024;
const SECOND = 1_000;

export interface HttpServerOptions {
  readonly logger: FastifyBaseLogger;
  /** Whether requests can be served; asked by `GET /readyz`. */
  readonly isReady: () => Promise<boolean>;
}

/**
 * A server whose every error has the one shape `{code, detail}`: repeated slashes are one, a final slash does not
 * matter, nothing is redirected, nothing is coerced or removed from a body.
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: DEFAULT_BODY_BYTES,
    genReqId: createRequestIds(),
    forceCloseConnections: "idle",
    keepAliveTimeout: 75 * SECOND,
    connectionTimeout: 0,
    requestTimeout: 120 * SECOND,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 500 },
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: false,
        strict: false,
      },
    },
    frameworkErrors: (error, request, reply) => void sendProblem(toProblem(error, request), request, reply),
    clientErrorHandler,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch (cause) {
      done(new Problem("INVALID_JSON", undefined, { cause }));
    }
  });
  app.setErrorHandler((error, request, reply) => sendProblem(toProblem(error, request), request, reply));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new Problem("NOT_FOUND", `There is nothing at ${request.url.slice(0, 200)}.`),
      request,
      reply,
    ),
  );
  app.get("/healthz", async () => ({ status: "alive" }));
  app.get("/readyz", async () => {
    if (!(await options.isReady()))
      throw new Problem("UNAVAILABLE", "Not ready: the database does not answer.", {
        headers: { "retry-after": "1" },
      });
    return { status: "ready" };
  });
  return app;
}

/** Names that are unique among all processes, without asking for random numbers at every request. */
function createRequestIds(): () => string {
  const prefix = randomUUID();
  let count = 0;
  return () => `${prefix}-${(count += 1)}`;
}

/** What Node refuses before there is a request: broken HTTP, headers too large, too slow. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
  const body = JSON.stringify({ code: "INVALID_INPUT", detail: "The request is not valid HTTP." });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
