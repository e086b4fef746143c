import type { Static, TSchema } from "typebox";
import { parseExactNumbers } from "./exact-number.ts";
import { BODY_TYPES } from "./operation.ts";
import type { Operation, OperationTable } from "./operation.ts";
import type { ProblemBody } from "./problems.ts";

type Success = 200 | 201 | 204;

type ResponseOf<O extends Operation> = O extends { readonly answerMode: "content" | "events" }
  ? Response
  : SuccessOf<O>;

type SuccessOf<O extends Operation> = {
  [S in keyof O["responses"] & Success]: O["responses"][S] extends { readonly preference: string }
    ? never
    : BodyOf<O["responses"][S]>;
}[keyof O["responses"] & Success];

type BodyOf<R> = R extends { readonly schema: infer T extends TSchema } ? Static<T> : undefined;

/** Calls with a preference that the operation has an answer of its own for; never: it has none. */
type Preferred<O extends Operation> = {
  [S in keyof O["responses"]]: O["responses"][S] extends { readonly preference: infer P extends string }
    ? (request: RequestOf<O> & { readonly prefer: P }) => Promise<BodyOf<O["responses"][S]> | ResponseOf<O>>
    : never;
}[keyof O["responses"]];

/** The same as a further signature. It may be answered as any other call nevertheless. */
type PreferredCall<O extends Operation> = [Preferred<O>] extends [never] ? unknown : Preferred<O>;

type Part<O, K extends string> = O extends { readonly [P in K]: infer T extends TSchema }
  ? { readonly [P in K]: Static<T> }
  : unknown;

type BodyPart<O> = O extends { readonly bodyMode: "stream" }
  ? { readonly body: Uint8Array | ReadableStream<Uint8Array> }
  : O extends { readonly bodyMode: "file" }
    ? { readonly body: Uint8Array | ReadableStream<Uint8Array> } & Headed
    : O extends { readonly bodyMode: "optional"; readonly body: infer T extends TSchema }
      ? { readonly body?: Static<T> | RawJson }
      : O extends { readonly body: infer T extends TSchema }
        ? { readonly body: Static<T> | RawJson }
        : unknown;

/** A body that is JSON text already; it is sent unchanged. */
export interface RawJson {
  readonly json: string;
}

/** Headers of one request, of which it needs more than others: Content-Type, digests, ranges and conditions. */
interface Headed {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Parameters, query and body of a request. `prefer` is the header Prefer, e.g. `wait=10`, `idempotencyKey` that of a start. */
type RequestOf<O extends Operation> = Part<O, "params"> &
  (O extends { readonly query: infer T extends TSchema } ? { readonly query?: Static<T> } : unknown) &
  BodyPart<O> &
  (O extends { readonly answerMode: "content" | "events" } ? Headed : unknown) & {
    readonly prefer?: string;
    readonly idempotencyKey?: string | undefined;
    readonly signal?: AbortSignal;
  };

/**
 * One function per operation; each rejects with `RequestRefused`, or with the error of `fetch`. Content is given as the response, 304 as
 * well, and so are events (`readEvents`): its body must be read or cancelled.
 */
export type Client<T extends OperationTable> = {
  readonly [K in keyof T]: PreferredCall<T[K]> & ((request: RequestOf<T[K]>) => Promise<ResponseOf<T[K]>>);
};

/** Where and how a client sends requests. */
export interface ClientOptions {
  /** Base URL of all paths, with or without a final slash. */
  readonly baseUrl: string;
  /** Headers of every request, e.g. `Authorization`. Called for each request, so that a token can be renewed. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The server answered with an error status. `problem` is the response body, or made from the status if the body is not a problem. */
export class RequestRefused extends Error {
  readonly status: number;
  readonly problem: ProblemBody;

  constructor(status: number, problem: ProblemBody) {
    super(problem.detail);
    this.name = "RequestRefused";
    this.status = status;
    this.problem = problem;
  }
}

/** Of a file whose type the caller does not say. */
const FILE_TYPE = "application/octet-stream";

/** Of answers that are not JSON; refusals are, whatever is accepted. */
const ACCEPTED: Readonly<Partial<Record<Operation["answerMode"], string>>> = {
  content: "*/*",
  events: "text/event-stream",
};

interface AnyRequest {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly prefer?: string;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal;
}

/** What of an operation a client needs to send it: a browser takes it from `routes.gen.ts`, without the schemas. */
export type Route = Pick<Operation, "method" | "path" | "bodyMode" | "answerMode">;

/**
 * Creates a typed client for an operation table, or for the routes of one (`createClient<typeof TABLE>(ROUTES, ...)`). Network errors are
 * passed on as `fetch` throws them.
 */
export function createClient<T extends OperationTable>(
  operations: T | Readonly<Record<keyof T, Route>>,
  options: ClientOptions,
): Client<T> {
  const send = options.fetch ?? fetch;
  const calls = Object.entries<Route>(operations).map(([id, operation]) => [
    id,
    async (request: AnyRequest) =>
      readResponse(
        operation,
        await send(buildUrl(options.baseUrl, operation, request), buildInit(operation, options, request)),
      ),
  ]);
  return Object.fromEntries(calls) as Client<T>;
}

/** The URL of a request, as a client asks it. @throws RequestRefused, TypeError as a client does for a parameter that is none */
export function buildUrl(
  baseUrl: string,
  operation: Pick<Route, "path">,
  request: Pick<AnyRequest, "params" | "query">,
): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(name, request.params?.[name]),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (Array.isArray(value)) for (const one of value) query.append(name, String(one));
    else if (value !== undefined) query.set(name, String(value));
  }
  const search = query.toString();
  return `${baseUrl.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

/**
 * A URL cannot contain an empty segment, `.` or `..` as an id: it would name another operation.
 *
 * @throws RequestRefused NOT_FOUND for these, since no resource has such an id; TypeError if the parameter is missing
 */
function encodeSegment(name: string, value: string | number | undefined): string {
  if (value === undefined) throw new TypeError(`The path parameter ${name} is missing.`);
  const text = String(value);
  if (text === "" || text === "." || text === "..")
    throw new RequestRefused(404, {
      code: "NOT_FOUND",
      detail: `There is nothing with the ${name} "${text}".`,
    });
  return encodeURIComponent(text);
}

function buildInit(operation: Route, options: ClientOptions, request: AnyRequest): RequestInit {
  const headers: Record<string, string> = {
    accept: ACCEPTED[operation.answerMode] ?? "application/json",
    ...options.headers?.(),
    ...describeWishes(request),
  };
  const init: RequestInit & { duplex?: "half" } = { method: operation.method, headers };
  if (request.signal) init.signal = request.signal;
  if (request.body !== undefined)
    headers["content-type"] =
      operation.bodyMode === "file" ? FILE_TYPE : (BODY_TYPES[operation.bodyMode] ?? BODY_TYPES.json);
  Object.assign(headers, request.headers);
  if (request.body === undefined) return init;
  if (operation.bodyMode === "stream" || operation.bodyMode === "file") {
    init.body = request.body as Uint8Array<ArrayBuffer> | ReadableStream;
    init.duplex = "half";
    return init;
  }
  return { ...init, body: isRawJson(request.body) ? request.body.json : JSON.stringify(request.body) };
}

function describeWishes({ prefer, idempotencyKey }: AnyRequest): Readonly<Record<string, string>> {
  return {
    ...(prefer ? { prefer } : {}),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
}

/** Whether a body is JSON text already. */
export function isRawJson(body: unknown): body is RawJson {
  return (
    typeof body === "object" &&
    body !== null &&
    Object.keys(body).length === 1 &&
    "json" in body &&
    typeof body.json === "string"
  );
}

async function readResponse({ answerMode }: Route, response: Response): Promise<unknown> {
  const isGivenOn = answerMode === "content" || answerMode === "events";
  if (isGivenOn && (response.ok || response.status === 304)) return response;
  const text = await response.text();
  if (response.ok) return text === "" ? undefined : parseExactNumbers(text);
  throw new RequestRefused(response.status, readProblem(response, text));
}

function readProblem(response: Response, text: string): ProblemBody {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "code" in body && "detail" in body)
      return body as ProblemBody;
  } catch {
    // Not a response of the platform, probably the page of a proxy. Only the status is known.
  }
  return {
    code: `HTTP_${response.status}`,
    detail: `The server answered ${response.status} ${response.statusText}.`,
  };
}
