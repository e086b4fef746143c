import { OutOfTime, RequestRefused, ServerUnreachable } from "./errors.js";

export const VERSION = "0.1.0";

const SECOND = 1_000;
const TRIES = 5;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5 * SECOND;
/** A longer `Retry-After` is left to the caller. */
const PATIENCE_MS = 60 * SECOND;
/** Beyond the end of a caller's time, so that the server can be the one that ends a long poll. */
const GRACE_MS = 5 * SECOND;

/** A timer that is set to more than this goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Longest time without a byte of an answer that the server does not delay. */
export const ANSWER_MS = 60 * SECOND;

/** @param {number} ms */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Milliseconds before the try with this number, from 1: rising, and different for each client. */
export function pauseBefore(attempt) {
  return Math.min(SHORTEST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

/** Milliseconds of `Retry-After`, or null. */
export function readRetryAfter(headers) {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/u.test(text)) return Number(text) * SECOND;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}

/** The error that says what the server says; of a redirect, that it is not followed. */
export function refuse({ status, headers, bytes }) {
  let body = null;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not the platform, but what stands before it.
  }
  const known = typeof body === "object" && body !== null ? body : {};
  const told = isRedirect(status) ? { ...known, detail: describeRedirect(headers) } : known;
  return new RequestRefused(status, told, headers.get("x-request-id"));
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

/** fetch says "fetch failed", and its cause why. */
function describe(error) {
  return String(error?.cause?.message ?? error?.message ?? error);
}
