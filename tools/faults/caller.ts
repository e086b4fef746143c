import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import type { Subscription } from "../platform-client.ts";
import { exchange, readJson } from "./http.ts";
import type { Sent } from "./http.ts";
import { Overdue } from "./bounded-wait.ts";

const SECOND = 1_000;
const RENEW_TOKEN_AFTER_MS = 1_200 * SECOND;
const ANSWER_WITHIN_MS = 6 * SECOND;
const TOKEN_WITHIN_MS = 60 * SECOND;
const UNAUTHENTICATED = 401;

/** What became of a request: an answer, or none, and then whether the request can have been sent. */
type Reply<T> =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: T;
    }
  | { readonly kind: "silence"; readonly isSent: boolean; readonly why: string };

interface AskOptions {
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
}

/** Asks gateways with an access token that is renewed. */
export interface Caller {
  readonly name: (gateway: number) => string;
  /** Reads a stream of server-sent events as far as the function does. Rejects when it breaks, or its time is over. */
  readonly follow: (
    gateway: number,
    path: string,
    options: { readonly withinMs: number; readonly signal: AbortSignal },
    read: (events: AsyncIterable<ServerEvent>) => Promise<void>,
  ) => Promise<{ readonly status: number }>;
  readonly ask: <T = Readonly<Record<string, unknown>>>(
    gateway: number,
    method: string,
    path: string,
    options?: AskOptions,
  ) => Promise<Reply<T>>;
}

/** `base`: path of the service, below which paths are that do not begin with a slash. */
export function createCaller(
  gateways: readonly [string, string],
  subscription: Subscription,
  base: string,
): Caller {
  let known: { readonly token: Promise<string>; readonly at: number } | null = null;
  const pickUrl = (gateway: number) => gateways[gateway % gateways.length] ?? gateways[0];
  const authorize = async () => {
    if (known === null || performance.now() - known.at > RENEW_TOKEN_AFTER_MS) {
      const token = fetchToken(gateways, subscription);
      known = { token, at: performance.now() };
      token.catch(() => (known = null));
    }
    return { authorization: `Bearer ${await known.token}`, accept: "application/json" };
  };
  // Of a gateway that does not take the token, such as one whose clock is wrong.
  const noteStatus = (status: number) => {
    if (status === UNAUTHENTICATED) known = null;
  };
  const toUrl = (gateway: number, path: string) =>
    `${pickUrl(gateway)}${path.startsWith("/") ? path : `${base}${path}`}`;
  return {
    name: (gateway) => `gateway-${(gateway % gateways.length) + 1}`,
    follow: async (gateway, path, options, read) => {
      const headers = { ...(await authorize()), accept: "text/event-stream" };
      const sent = { ...options, method: "GET", headers };
      return await exchange(toUrl(gateway, path), sent, async (received) => {
        const status = received.statusCode;
        noteStatus(status);
        if (status === 200) await read(readEvents(Readable.toWeb(received) as ReadableStream<Uint8Array>));
        return { status };
      });
    },
    ask: async <T>(
      gateway: number,
      method: string,
      path: string,
      options: AskOptions = {},
    ): Promise<Reply<T>> => {
      try {
        const sent = describeSent(method, await authorize(), options);
        const answer = await exchange(toUrl(gateway, path), sent, async (received) => ({
          status: received.statusCode,
          headers: received.headers,
          body: (await readJson(received)) as T,
        }));
        noteStatus(answer.status);
        return { kind: "answer", ...answer };
      } catch (error) {
        return describeSilence(error);
      }
    },
  };
}

function describeSent(
  method: string,
  authorization: Readonly<Record<string, string>>,
  { json, headers = {}, withinMs = ANSWER_WITHIN_MS }: AskOptions,
): Sent {
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  return { method, headers: { ...authorization, ...type, ...headers }, ...body, withinMs };
}

function describeSilence(error: unknown): { kind: "silence"; isSent: boolean; why: string } {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return { kind: "silence", isSent: code !== "ECONNREFUSED", why: code };
}

/** From whichever gateway gives one. */
async function fetchToken(
  gateways: readonly [string, string],
  { keyId, secret }: Subscription,
): Promise<string> {
  const sent = {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${keyId}:${secret}`)}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: "grant_type=client_credentials",
    withinMs: ANSWER_WITHIN_MS,
  };
  const deadline = performance.now() + TOKEN_WITHIN_MS;
  for (let gateway = 0; performance.now() < deadline; gateway++) {
    try {
      const url = `${gateways[gateway % 2] ?? gateways[0]}/token`;
      const body = (await exchange(url, sent, readJson)) as { access_token?: string };
      if (body.access_token !== undefined) return body.access_token;
    } catch {
      // The other one is asked.
    }
    await delay(100);
  }
  throw new Overdue(`no gateway gave an access token for ${TOKEN_WITHIN_MS / SECOND} s`);
}
