import { request as requestHttp } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { parseWebhookUrl } from "@platform/contract/webhook-url";
import { KILOBYTE } from "../base/bytes.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { getCode } from "../base/thrown.ts";
import type { AddressPolicy } from "./outside-addresses.ts";
import { resolveName } from "./resolve-name.ts";
import type { ResolveName } from "./resolve-name.ts";

/** Of an answer nothing is kept: what is larger is cut off. */
const MAX_ANSWER_BYTES = 64 * KILOBYTE;
const MAX_HEADER_BYTES = 16 * KILOBYTE;
/** Answers of 1xx before the one that counts; each is parsed, and there is no end to what a receiver can send in its time. */
const MAX_INTERIM_ANSWERS = 8;

/** A message, and what its receiver is asked by. */
export interface WebhookCall {
  /** As `parseWebhookUrl` has accepted it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** How messages are sent. */
export interface WebhookSender {
  readonly isAllowed: AddressPolicy;
  /** From the look-up of the name to the end of the answer. Milliseconds. */
  readonly timeoutMs: number;
  /** Certificates of authorities besides those that Node.js knows, as PEM. */
  readonly ca?: readonly string[];
  /** Default: by the name servers of the system. */
  readonly resolve?: ResolveName;
}

/** What became of a call. It was received where the status is 200 to 299; redirects are not followed. */
export interface WebhookAnswer {
  /** Null: there was no answer. */
  readonly status: number | null;
  /** Why there was none; null: there was. For people; tells nothing of addresses. */
  readonly failure: string | null;
  readonly durationMs: number;
}

/** Calls once. Never rejects: what goes wrong is told. A name is looked up anew each time, and what it resolves to is judged, then called. */
export async function sendWebhook(
  { url, headers, body }: WebhookCall,
  sender: WebhookSender,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const since = readMonotonic();
  const finish = (status: number | null, failure: string | null) => ({
    status,
    failure,
    durationMs: Math.round(readMonotonic() - since),
  });
  const target = parseWebhookUrl(url);
  if (target === null) return finish(null, "The URL is not one of http or https.");
  const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
  // An address is called without being looked up.
  if (isIP(host) !== 0 && !sender.isAllowed(host)) return finish(null, REFUSED);
  const ended = endWithin(sender.timeoutMs, signal);
  try {
    const answer = await call(target, { headers, body }, { ...sender, signal: ended.signal });
    const { statusCode = 0 } = answer;
    await readToEnd(answer);
    return finish(statusCode, null);
  } catch (error) {
    return finish(null, explain(error, { isStopped: signal.aborted, isLate: ended.signal.aborted, sender }));
  } finally {
    ended.release();
  }
}

/** Aborts after the time or with the signal. Not by `AbortSignal.any`, which the first releases of Node.js 18 lack. */
function endWithin(timeoutMs: number, signal: AbortSignal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    signal: ending.signal,
    release: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    },
  };
}

async function call(
  target: URL,
  { headers, body }: Pick<WebhookCall, "headers" | "body">,
  { isAllowed, ca, resolve = resolveName, signal }: WebhookSender & { readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const request = (target.protocol === "https:" ? requestHttps : requestHttp)(target, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    // A connection of its own, so that its address is judged.
    agent: false,
    lookup: createLookup(isAllowed, resolve),
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
  request.end(body);
  return await awaitAnswer(request);
}

class UnusableAnswerError extends Error {}

/** Settles in any case: a request that another protocol takes over has neither an answer nor an error. */
async function awaitAnswer(request: ClientRequest): Promise<IncomingMessage> {
  let interim = 0;
  return await new Promise((resolve, reject) => {
    const refuse = (): void => {
      reject(new UnusableAnswerError("no final answer"));
      request.destroy();
    };
    request.once("response", resolve);
    request.once("upgrade", (_answer, socket) => {
      socket.destroy();
      refuse();
    });
    request.on("information", () => {
      interim += 1;
      if (interim > MAX_INTERIM_ANSWERS) refuse();
    });
    // What comes after the answer is nobody's.
    request.on("error", reject);
    request.once("close", refuse);
  });
}

/** Ends the connection once the answer is complete, or too large. */
async function readToEnd(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } finally {
    answer.destroy();
  }
}

/** The addresses, or why there are none. */
async function find(name: string, resolve: ResolveName): Promise<readonly string[] | Error> {
  try {
    return await resolve(name);
  } catch (error) {
    return error instanceof Error ? error : new Error("the name could not be resolved", { cause: error });
  }
}

class RefusedAddressError extends Error {}

/** Resolves names to the addresses that may be called; the connection goes to one of these. */
function createLookup(isAllowed: AddressPolicy, resolve: ResolveName): LookupFunction {
  return (hostname, { all }, callback) => {
    const answer = (found: readonly string[] | Error): void => {
      if (found instanceof Error) {
        callback(found, "");
        return;
      }
      const allowed = found.filter(isAllowed).map((address) => ({ address, family: isIP(address) }));
      const [first] = allowed;
      if (first === undefined) callback(new RefusedAddressError(REFUSED), "");
      else if (all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    };
    void find(hostname, resolve).then(answer);
  };
}

const REFUSED =
  "The host is at a private, local or reserved address, which is called only where the operator has opened it (--webhook-open).";

/** By the codes of Node.js. */
const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "The name of the host could not be resolved.",
  ENODATA: "The name of the host could not be resolved.",
  ESERVFAIL: "The name of the host could not be resolved at the moment.",
  ETIMEOUT: "The name of the host could not be resolved at the moment.",
  EAI_AGAIN: "The name of the host could not be resolved at the moment.",
  ECONNREFUSED: "The host refused the connection.",
  ECONNRESET: "The host ended the connection without an answer.",
  EPIPE: "The host ended the connection without an answer.",
  EHOSTUNREACH: "The host cannot be reached.",
  ENETUNREACH: "The host cannot be reached.",
  ETIMEDOUT: "The host did not accept the connection in time.",
  CERT_HAS_EXPIRED: "The certificate of the host has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate of the host is self-signed.",
  SELF_SIGNED_CERT_IN_CHAIN: "The certificate of the host is of an authority that is not trusted.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The certificate of the host is of an authority that is not trusted.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The certificate of the host is of an authority that is not trusted.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is not one of this host.",
  HPE_HEADER_OVERFLOW: "The headers of the answer are too large.",
};

function explain(
  error: unknown,
  why: { readonly isStopped: boolean; readonly isLate: boolean; readonly sender: WebhookSender },
): string {
  if (error instanceof RefusedAddressError) return REFUSED;
  if (error instanceof UnusableAnswerError) return "There was no final answer.";
  if (why.isStopped) return "The platform stopped while it waited for the answer.";
  if (why.isLate) return `There was no complete answer within ${why.sender.timeoutMs / 1_000} s.`;
  const code = getCode(error) ?? "";
  if (FAILURES[code] !== undefined) return FAILURES[code];
  if (code.startsWith("HPE_")) return "The answer is not one of HTTP.";
  return /^(ERR_TLS|ERR_SSL|EPROTO|CERT_)/.test(code)
    ? "No connection by TLS could be made with the host."
    : "The host could not be called.";
}
