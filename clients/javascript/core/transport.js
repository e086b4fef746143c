import { OutOfTime, RequestRefused, ServerUnreachable } from "./errors.js";

export const VERSION = "0.1.0";

const SECOND = 1_000;
const TRIES = 5;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5 * SECOND;
/** A longer `Retry-After` is left to the caller; between looks at a state it is cut to this. */
export const PATIENCE_MS = 60 * SECOND;
/** Beyond the end of a caller's time, so that the server can be the one that ends a long poll. */
const GRACE_MS = 5 * SECOND;

/** A timer that is set to more than this goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/u;

const PERMANENT = /CERT|CRL|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^PATH_LENGTH|^HOSTNAME_MISMATCH$/u;

/** Longest time without a byte of an answer that the server does not delay. */
export const ANSWER_MS = 60 * SECOND;

/** @param {number} ms */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Milliseconds before the try with this number, from 1: rising, and different for each client. */
function pauseBefore(attempt) {
  return Math.min(SHORTEST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

/** Milliseconds of `Retry-After`, or null where it has not what RFC 9110 allows: Date.parse takes "-1" for a year. */
function readRetryAfter(headers) {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/u.test(text)) return Number(text) * SECOND;
  const time = HTTP_DATE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}

/**
 * Milliseconds until the next look at a state, bounded whatever a faulty server or proxy asks for. 0: the server has waited itself, as the
 * time shows that its answer took.
 */
export function pauseBetween(headers, tookMs, attempt) {
  if (headers.get("preference-applied")?.includes("wait"))
    return tookMs >= SHORTEST_PAUSE_MS ? 0 : pauseBefore(attempt);
  const asked = readRetryAfter(headers);
  return asked === null ? pauseBefore(attempt) : Math.min(Math.max(asked, SHORTEST_PAUSE_MS), PATIENCE_MS);
}

/** The parsed body; null, where it is no JSON. */
export function readJson({ bytes }) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** The error that says what the server says; of a redirect, that it is not followed. */
export function refuse(response) {
  const { status, headers } = response;
  const body = readJson(response);
  const known = typeof body === "object" && body !== null ? body : {};
  const told = isRedirect(status) ? { ...known, detail: describeRedirect(headers) } : known;
  return new RequestRefused(status, told, headers.get("x-request-id"));
}

/** The error of an answer that is something else; nothing of it is shown, it may be secret. */
export function misread({ status, headers }, wanted) {
  const detail = `The answer is not ${wanted}: check the URL, and whether a proxy or a login page answers in its place.`;
  return new RequestRefused(status, { detail }, headers.get("x-request-id"));
}

/** A browser tells nothing of a redirect, its status is 0. */
function isRedirect(status) {
  return status === 0 || (status >= 300 && status < 400);
}

function describeRedirect(headers) {
  const to = headers.get("location") ?? "an address that is not told";
  return `The server redirects to ${to}. It is not followed, since the token is for this server alone: give the client the endpoint URL of the subscription, or where it has moved to.`;
}

/**
 * Sends until an answer comes that is neither 429 nor 503, at most five times: what is sent has to be safe to send again.
 *
 * @throws RequestRefused 429 or 503, at last or for longer than a minute; ServerUnreachable, OutOfTime
 */
export async function send(url, { answerMs = ANSWER_MS, until = Infinity, ...request }) {
  for (let attempt = 1; ; attempt += 1) {
    let cause;
    let asked = null;
    try {
      const response = await sendOnce(url, request, { answerMs, wholeMs: timeLeft(until) + GRACE_MS });
      if (response.status !== 429 && response.status !== 503) return response;
      cause = refuse(response);
      asked = readRetryAfter(response.headers);
    } catch (error) {
      cause = new ServerUnreachable(`${url}: ${describe(error)}`, { cause: error });
      asked = chooseRest(error);
    }
    if (attempt === TRIES || (asked ?? 0) > PATIENCE_MS) throw cause;
    const pause = asked === null ? pauseBefore(attempt) : asked + 200 * Math.random();
    if (pause > timeLeft(until)) throw new OutOfTime(cause.message, { cause });
    await sleep(pause);
  }
}

/** Milliseconds until a time of `performance.now()`. */
export function timeLeft(until) {
  return Math.max(0, until - performance.now());
}

/** What others wait for as well: the caller waits no longer than `until`. @throws OutOfTime */
export async function endBy(promise, until = Infinity) {
  const ms = timeLeft(until) + GRACE_MS;
  if (ms > LONGEST_TIMER_MS) return await promise;
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new OutOfTime(`no token within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, end]);
  } catch (error) {
    const isLate = error instanceof ServerUnreachable && timeLeft(until) === 0;
    throw isLate ? new OutOfTime(error.message, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** `answerMs`: the longest time without a byte, since a large file takes longer as a whole; `wholeMs`: that of all. */
async function sendOnce(url, request, { answerMs, wholeMs }) {
  // Not AbortSignal.timeout: its timer does not keep a program running that waits for nothing else.
  const controller = new AbortController();
  const abortAfter = (ms) => setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms);
  const whole = wholeMs > LONGEST_TIMER_MS ? undefined : abortAfter(wholeMs);
  let silence = abortAfter(answerMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal: controller.signal, ...request });
    const parts = [];
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader.read()) {
      parts.push(part.value);
      clearTimeout(silence);
      silence = abortAfter(answerMs);
    }
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  } finally {
    clearTimeout(whole);
    clearTimeout(silence);
  }
}

/**
 * A certificate that is refused is the same the next time; otherwise null. A browser does not tell, Node.js by the codes of
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes.
 */
function chooseRest(error) {
  return PERMANENT.test(error?.cause?.code ?? error?.code ?? "") ? Infinity : null;
}

/** fetch says "fetch failed", and its cause why. */
function describe(error) {
  return String(error?.cause?.message ?? error?.message ?? error);
}
