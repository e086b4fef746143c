import { createClient } from "@platform/contract/client";
import type { Client } from "@platform/contract/client";
import type { OperationTable } from "@platform/contract/operation";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { QUANTUM_API, QUANTUM_API_PREFIX } from "@platform/contract/quantum-api/quantum-api";
import type { StoredConfig } from "./config-file.ts";
import type { CommandContext } from "./context.ts";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { UserError } from "./errors.ts";
import { mayAnswer } from "./resembles.ts";
import type { Settings } from "./settings.ts";

const PLATFORM_API_PREFIX = "/api";

/** Address of the platform API after `npm start`. */
const DEFAULT_ENDPOINT = "http://localhost:8090";
const PAGE_SIZE = 100;
/** A million items: more than any list of one organisation has that a command reads as a whole. */
const MAX_PAGES = 10_000;

/** Client of the platform API. */
export type PlatformClient = Client<typeof PLATFORM_API>;
/** Client of the quantum API. */
export type QuantumClient = Client<typeof QUANTUM_API>;

/** A login at one platform, for one organisation. */
export interface Session {
  /** Origin and path prefix of the platform, without `/api` and without a final slash. */
  readonly endpoint: string;
  /** Null: the user's own organisation. */
  readonly organizationId: string | null;
  readonly client: PlatformClient;
  readonly quantum: QuantumClient;
  /** A request to a path below `/api`, of content that is no JSON; no status is an error. It is aborted with the command. */
  readonly send: (path: string, init: RequestInit) => Promise<Response>;
  /** Creates the same client with an observer of its responses. */
  readonly connect: (observer: ResponseObserver) => PlatformClient;
  /** The same of the quantum API. */
  readonly connectQuantum: (observer: ResponseObserver) => QuantumClient;
}

/**
 * Opens a session from the environment variables and the stored login; the variables take precedence. `inOrganization`: for this
 * organisation instead of the one that is worked in.
 *
 * @throws UserError NOT_LOGGED_IN, INVALID_ENDPOINT, CONFIG_INVALID
 */
export async function openSession(context: CommandContext, inOrganization?: string): Promise<Session> {
  const login = await readLogin(context, inOrganization);
  const { endpoint, organizationId } = login;
  const options = { ...login, signal: context.signal };
  const connectQuantum = (observer: ResponseObserver) =>
    createApiClient(QUANTUM_API, QUANTUM_API_PREFIX, { ...options, ...observer });
  return {
    endpoint,
    organizationId,
    client: createPlatformClient(options),
    quantum: connectQuantum({}),
    send: (path, init) =>
      fetch(`${endpoint}/api${path}`, {
        signal: context.signal,
        redirect: "manual",
        ...init,
        headers: {
          ...createHeaders(options),
          ...(init.headers as Readonly<Record<string, string>> | undefined),
        },
      }),
    connect: (observer) => createPlatformClient({ ...options, ...observer }),
    connectQuantum,
  };
}

/** What a session is opened with. */
interface Login {
  readonly endpoint: string;
  readonly token: string;
  readonly organizationId: string | null;
}

/** The login that a session would be opened with. @throws UserError NOT_LOGGED_IN, INVALID_ENDPOINT, CONFIG_INVALID */
export async function readLogin(context: CommandContext, inOrganization?: string): Promise<Login> {
  const stored = await context.config.read();
  const { settings } = context;
  const token = settings.personalAccessToken ?? stored.personalAccessToken;
  if (token === undefined) {
    throw new UserError("NOT_LOGGED_IN", "You are not logged in.", {
      hint: "Run 'platform login', or set PLATFORM_PERSONAL_ACCESS_TOKEN.",
    });
  }
  const endpoint = findEndpoint(settings, stored);
  warnOfPlainHttp(context, endpoint);
  const organizationId = inOrganization ?? settings.organizationId ?? stored.context?.id ?? null;
  return { endpoint, token, organizationId };
}

/** Warns if the token is going to be sent unencrypted, except to this machine. */
export function warnOfPlainHttp({ output }: Pick<CommandContext, "output">, endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol !== "http:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return;
  output.warn(`${endpoint} is not encrypted: others on the network can read and use your token.`);
}

/**
 * The endpoint from the environment, else the stored one, else that of a local platform.
 *
 * @throws UserError INVALID_ENDPOINT
 */
export function findEndpoint(settings: Settings, stored: StoredConfig): string {
  return parseEndpoint(settings.endpoint ?? stored.endpoint ?? DEFAULT_ENDPOINT);
}

/**
 * Normalises the address of a platform, which may end with `/api` and slashes.
 *
 * @throws UserError INVALID_ENDPOINT
 */
export function parseEndpoint(text: string): string {
  const hint = "Examples: https://platform.example.org, http://localhost:8090.";
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new UserError("INVALID_ENDPOINT", `The endpoint '${text}' is not a URL.`, { cause: error, hint });
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new UserError("INVALID_ENDPOINT", `The endpoint '${text}' is neither http nor https.`, { hint });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/api$/, "");
}

/** Observes the responses that a client receives. */
interface ResponseObserver {
  /** Called with the status of each response, before its body is read. */
  readonly onStatus?: (status: number) => void;
  /** Called with the headers of each response, before its body is read. */
  readonly onHeaders?: (headers: Headers) => void;
  /** Called with the body of each response, before it is parsed. */
  readonly onText?: (text: string) => void;
  /** An answer that is longer is refused; default `MAX_ANSWER_BYTES`. */
  readonly maxAnswerBytes?: number;
}

/** Address and credentials of a client. */
export interface PlatformClientOptions extends ResponseObserver {
  /** As `parseEndpoint` returns it. */
  readonly endpoint: string;
  /** Null: for operations that need none. */
  readonly token: string | null;
  /** Null: the user's own organisation. */
  readonly organizationId: string | null;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /** More headers of each request. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Creates a client of the platform API. Besides the errors of `createClient`, its functions reject with UserError NOT_A_PLATFORM. */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  return createApiClient(PLATFORM_API, PLATFORM_API_PREFIX, options);
}

function createApiClient<T extends OperationTable>(
  table: T,
  prefix: string,
  options: PlatformClientOptions,
): Client<T> {
  const headers = createHeaders(options);
  const client = createClient(table, {
    baseUrl: `${options.endpoint}${prefix}`,
    headers: () => ({ ...headers, ...options.headers?.() }),
    fetch: async (input, init) => {
      // Following a redirect would send the token to another server and turn a POST into a GET.
      const response = await fetch(input, { signal: options.signal, redirect: "manual", ...init });
      options.onStatus?.(response.status);
      options.onHeaders?.(response.headers);
      checkIsPlatform(response, options.endpoint);
      const bounded = boundAnswer(response, options.maxAnswerBytes ?? MAX_ANSWER_BYTES);
      if (options.onText !== undefined) options.onText(await bounded.clone().text());
      return bounded;
    },
  });
  return refuseOthers(client, table, options.endpoint);
}

/** The same client, which also refuses JSON that no platform answers with: a command would fail at what is not in it. */
function refuseOthers<T extends OperationTable>(client: Client<T>, table: T, endpoint: string): Client<T> {
  const calls = Object.entries<(request: never) => Promise<unknown>>(client).map(([id, call]) => [
    id,
    async (request: never) => {
      const answer = await call(request).catch((error: unknown) => {
        throw error instanceof SyntaxError ? createForeignError(endpoint, NOT_JSON, error) : error;
      });
      const responses = table[id]?.responses ?? {};
      if (answer instanceof Response || mayAnswer(responses, answer)) return answer;
      throw createForeignError(endpoint, "the response has nothing of what a platform answers");
    },
  ]);
  return Object.fromEntries(calls) as Client<T>;
}

/** More than a page of any list has. */
const MAX_ANSWER_BYTES = 64 * MEGABYTE;

/** The server is not believed that its answer fits into memory, whatever it says of the length, and however it is compressed. */
function boundAnswer(response: Response, mostBytes: number): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > mostBytes)
        throw new UserError(
          "INVALID_ANSWER",
          `The answer of the platform has more than ${mostBytes / MEGABYTE} MB; the rest was not read.`,
        );
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(counter), { status, statusText, headers });
}

function createHeaders({
  token,
  organizationId,
}: Pick<PlatformClientOptions, "token" | "organizationId">): Readonly<Record<string, string>> {
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(organizationId === null ? {} : { "x-organizationid": organizationId }),
  };
}

/** Refuses responses of a proxy or of another program, which are neither JSON nor events, or redirect. */
function checkIsPlatform(response: Response, endpoint: string): void {
  if (response.status === 204) return;
  const isRedirect = response.status >= 300 && response.status < 400;
  const type = response.headers.get("content-type") ?? "";
  const isKnown = type.includes("json") || type.includes("event-stream");
  if (!isRedirect && (isKnown || !response.ok)) return;
  throw createForeignError(endpoint, isRedirect ? `redirect ${response.status}` : NOT_JSON);
}

const NOT_JSON = "the response is not JSON";

function createForeignError(endpoint: string, why: string, cause?: unknown): UserError {
  return new UserError("NOT_A_PLATFORM", `The server at ${endpoint} is not a platform API (${why}).`, {
    cause,
    hint: "Check the endpoint: 'platform login --endpoint URL' or PLATFORM_ENDPOINT. It is the address of the platform API, not of the gateway.",
  });
}

/** Where the console shows a job. */
export function formatJobLink(endpoint: string, id: string): string {
  return `${endpoint}/jobs/${encodeURIComponent(id)}`;
}

interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/**
 * Reads all pages of a list of the platform API and returns the items in their order. The server is not believed that there is always one more.
 *
 * @throws UserError INVALID_ANSWER
 */
export async function readAllPages<T>(
  readPage: (query: { limit: number; cursor?: string }) => Promise<ListPage<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page: ListPage<T> = await readPage({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) });
    for (const item of page.items) items.push(item);
    if (page.nextCursor === null) return items;
    if (page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  throw new UserError("INVALID_ANSWER", "The platform answers with a list that does not end.");
}
