import { createServer, request as requestHttp } from "node:http";
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  Server,
  ServerResponse,
} from "node:http";
import { request as requestHttps } from "node:https";
import { QUANTUM_API, QUANTUM_API_PREFIX } from "@platform/contract/quantum-api/quantum-api";
import type { OperationTable } from "@platform/contract/operation";
import type { Logger } from "../base/logger.ts";
import type { DoorAttendant, Doorkeeper } from "../base/door.ts";
import { createGuestBook } from "./relay-guests.ts";
import type { GuestBook } from "./relay-guests.ts";

/** What of a request is passed on: what the operations read, and no more. */
const REQUEST_HEADERS = [
  "accept",
  "authorization",
  "content-length",
  "content-type",
  "idempotency-key",
  "prefer",
  "traceparent",
  "tracestate",
  "user-agent",
  "x-auth-token",
  // By which published clients are known.
  "x-cloud-trace-context",
  "x-fern-language",
  "x-organizationid",
];
/** What of an answer is not: it concerns the connection to the platform. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** As written: no part that some server could read as a step upwards or as another slash, and nothing that is decoded twice. */
const PATH = /^\/quantum(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+(?:\?[!-~]*)?$/u;
/** Node.js writes the body of another method without saying where it ends: what follows would be read as a request of its own. */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PATCH"]);

/** Where the relay leads. */
interface RelayOptions {
  /** Where this process reaches the platform API: an origin, and a path where there is one, without a final slash. */
  readonly target: () => string;
  /** Who calls, in place of who says to call; null: nobody whom this process knows. Missing: whoever the request says. */
  readonly authorize?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders | null;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Answers what executions send through the doors of their sandboxes: passes requests on to the quantum API, as they come and piece by piece, and
 * refuses all others. By itself it adds no rights: who calls is what the token says that the request has. What a sandbox, and a run in it, may ask
 * at one time is bounded for each door (relay-guests.ts).
 */
export function createQuantumRelay(options: RelayOptions): Doorkeeper {
  return () => attendDoor(options);
}

function attendDoor({ target, authorize = (headers) => headers, logger }: RelayOptions): DoorAttendant {
  const guests = createGuestBook();
  const server = listenTo(guests, (request, response) => {
    const { method = "", url = "" } = request;
    const asked = PATH.test(url) ? findAsked(method, url) : [];
    if (asked.length === 0) return refuse(request, response, 404, NOT_QUANTUM);
    if (!asked.every(({ isOpen }) => isOpen)) return refuse(request, response, 403, USERS_ALONE);
    // Nobody reads it, and to read it to its end would cost this thread what the run wants it to.
    if (!WITH_BODY.has(method) && hasBody(request)) return refuse(request, response, 400, NO_BODY);
    const headers = authorize(pick(request.headers));
    if (headers === null) return refuse(request, response, 401, STRANGER);
    return passOn({ request, response, url: new URL(`${target()}${url}`), headers, logger });
  });
  return (connection) => {
    const guest = guests.welcome(connection);
    server.emit("connection", connection);
    return guest;
  };
}

/** An operation of the quantum API, as requests name it. */
interface Known {
  readonly method: string;
  /** Of its path; null: whatever stands there. */
  readonly parts: readonly (string | null)[];
  readonly isOpen: boolean;
}

/**
 * What is for users alone is not passed on either, though the platform refuses it to tokens of executions: behind a door that knows who calls, they
 * would do it as that user, such as take a budget away, which bounds what their jobs cost.
 */
const KNOWN: readonly Known[] = Object.values<OperationTable[string]>(QUANTUM_API).map(
  ({ method, path, forExecutions }) => ({
    method,
    parts: `${QUANTUM_API_PREFIX}${path}`.split("/").map((part) => (part.startsWith("{") ? null : part)),
    isOpen: forExecutions === true,
  }),
);

/** All operations that the path may mean: which of them it does, the platform decides. */
function findAsked(method: string, url: string): readonly Known[] {
  const [path = ""] = url.split("?", 1);
  const given = path.split("/");
  return KNOWN.filter(
    (known) =>
      known.method === method &&
      known.parts.length === given.length &&
      known.parts.every((part, at) => part === null || part === given[at]),
  );
}

/** A server that listens nowhere: connections are handed to it. */
function listenTo(guests: GuestBook, answer: RequestListener): Server {
  const server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
    const turn = guests.ask(request, response);
    if (turn === "pipelined") return void request.socket.destroy();
    if (turn === "too many") return refuse(request, response.setHeader("retry-after", "1"), 429, TOO_MANY);
    turn.begin(() => answer(request, response));
  });
  // Neither tunnels nor other protocols; without a listener, the connection of an upgrade would stay open.
  for (const event of ["connect", "upgrade"] as const)
    server.on(event, (_request, socket) => socket.destroy());
  server.on("clientError", (_error, socket) => socket.destroy());
  return server;
}

const NOT_QUANTUM = {
  code: "NOT_FOUND",
  detail: `Executions reach nothing but operations of ${QUANTUM_API_PREFIX} here.`,
} as const;
const AWAY = {
  code: "UNAVAILABLE",
  detail: "The worker does not reach the platform API at present; try again.",
} as const;

const USERS_ALONE = {
  code: "FORBIDDEN",
  detail: "This is for users, and not for executions of services.",
} as const;
const NO_BODY = { code: "INVALID_INPUT", detail: "Requests of this method have no body here." } as const;
const TOO_MANY = {
  code: "RATE_LIMITED",
  detail: "The execution asks the quantum API too much at the same time; try again in 1 second.",
} as const;
const STRANGER = { code: "UNAUTHENTICATED", detail: "The token is not the one of this execution." } as const;

interface Passing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly logger: Pick<Logger, "warn">;
}

function passOn({ request, response, url, headers: passed, logger }: Passing): void {
  const start = url.protocol === "https:" ? requestHttps : requestHttp;
  const { method = "" } = request;
  const hasBody = WITH_BODY.has(method);
  const { "content-length": length, ...others } = passed;
  const headers = hasBody && length !== undefined ? passed : others;
  const onward: ClientRequest = start(url, { method, headers });
  onward.on("response", (answer) => {
    // What is answered before it was sent to its end is not read to its end.
    if (!request.complete) response.setHeader("connection", "close");
    response.writeHead(answer.statusCode ?? 502, leaveHops(answer.headers));
    answer.on("error", () => response.destroy());
    answer.pipe(response);
  });
  // Nobody asks for it.
  onward.on("upgrade", (_answer, socket) => socket.destroy());
  onward.on("error", (error) => {
    if (response.headersSent || response.destroyed) return response.destroy();
    logger.warn({ err: error }, "the platform API could not be reached for an execution");
    return refuse(request, response, 503, AWAY);
  });
  response.on("close", () => {
    if (!response.writableFinished) onward.destroy();
  });
  request.on("error", () => onward.destroy());
  if (hasBody) return void request.pipe(onward);
  request.resume();
  onward.end();
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: { readonly code: string; readonly detail: string },
): void {
  request.resume();
  const headers = { "content-type": "application/json", connection: "close" };
  response.writeHead(status, headers).end(JSON.stringify({ ...body, error: body.detail }));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") !== 0;
}

function pick(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

function leaveHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name)));
}
