import { findMismatch } from "@platform/engine/base/find-mismatch";
import { isRecord } from "@platform/engine/base/json";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { getMessage } from "@platform/engine/base/thrown";
import { explainUnreachable } from "../base/explain-error.ts";
import { pause } from "../base/wait.ts";
import type { Answer, Check, Expected, Known, Sent } from "./check.ts";
import { FEATURE_CHECKS } from "./feature-checks.ts";
import { LIFECYCLE_CHECKS, SECOND_START } from "./lifecycle-checks.ts";
import { REFUSAL_CHECKS } from "./refusal-checks.ts";

/** How one check ended. */
export interface CheckResult {
  readonly name: string;
  readonly says: string;
  /** `skipped`: what it needs is not known. */
  readonly outcome: "ok" | "differs" | "skipped";
  /** What was expected, and what was answered. */
  readonly difference?: string;
}

/** The endpoint that is checked. */
export interface CheckedEndpoint {
  /** Without a final slash. */
  readonly url: string;
  readonly token?: string;
  /** Body of a start that the service accepts. */
  readonly body: string;
  /** How long an execution may take. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const [FIRST_START, ...REST] = LIFECYCLE_CHECKS;

/** All checks, in the order in which they are run. */
const CHECKS: readonly Check[] = [
  ...(FIRST_START === undefined ? [] : [FIRST_START]),
  SECOND_START,
  ...REST,
  ...FEATURE_CHECKS,
  ...REFUSAL_CHECKS,
];

/** A server that is no service may never answer, or never end. */
const ANSWER_WITHIN_MS = 30 * SECOND;
const MAX_ANSWER_BYTES = 16 * 1_048_576;
const REPEAT_AFTER_MS = 0.2 * SECOND;
const MAX_QUOTE = 300;

/**
 * Runs one check after the other: some need what others have learned.
 *
 * @throws the signal's reason; UserError UNREACHABLE where the first finds no server
 */
export async function runChecks(
  endpoint: CheckedEndpoint,
  onResult: (result: CheckResult) => void,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  let known: Known = {
    body: endpoint.body,
    ...(endpoint.token === undefined ? {} : { token: endpoint.token }),
  };
  for (const check of CHECKS) {
    endpoint.signal.throwIfAborted();
    const { result, learned } = await runCheck(endpoint, check, known);
    known = { ...known, ...learned };
    results.push(result);
    onResult(result);
  }
  return results;
}

async function runCheck(endpoint: CheckedEndpoint, check: Check, known: Known) {
  const { name, says, needs } = check;
  if (needs !== undefined && (known[needs] ?? "") === "")
    return { result: { name, says, outcome: "skipped" as const }, learned: {} };
  try {
    const answer = await ask(endpoint, check, known);
    const difference = compare(check.expect, answer, known);
    if (difference !== null)
      return { result: { name, says, outcome: "differs" as const, difference }, learned: {} };
    return { result: { name, says, outcome: "ok" as const }, learned: check.learn?.(answer) ?? {} };
  } catch (error) {
    endpoint.signal.throwIfAborted();
    const unreachable = check === FIRST_START ? explainUnreachable(error, endpoint.url) : null;
    if (unreachable !== null) throw unreachable;
    const difference = `there was no answer: ${describeFault(error)}`;
    return { result: { name, says, outcome: "differs" as const, difference }, learned: {} };
  }
}

function describeFault(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return cause === undefined ? getMessage(error) : `${getMessage(error)}: ${getMessage(cause)}`;
}

async function ask(endpoint: CheckedEndpoint, check: Check, known: Known): Promise<Answer> {
  const deadline = readMonotonic() + endpoint.timeoutSeconds * SECOND;
  for (;;) {
    const answer = await send(endpoint, check.send(known));
    const isDone = check.until?.(answer) ?? true;
    if (isDone || answer.status !== 200 || readMonotonic() > deadline) return answer;
    await pause(REPEAT_AFTER_MS, endpoint.signal);
  }
}

async function send({ url, token, signal }: CheckedEndpoint, sent: Sent): Promise<Answer> {
  const late = new AbortController();
  const stop = () => late.abort(signal.reason);
  const timer = setTimeout(
    () => late.abort(new Error(`it took longer than ${ANSWER_WITHIN_MS / SECOND} s`)),
    ANSWER_WITHIN_MS,
  );
  signal.addEventListener("abort", stop, { once: true });
  try {
    const isKnown = token !== undefined && sent.isAnonymous === undefined;
    const response = await fetch(`${url}${sent.path}`, {
      method: sent.method,
      headers: { ...(isKnown ? { authorization: `Bearer ${token}` } : {}), ...sent.headers },
      ...(sent.body === undefined ? {} : { body: sent.body }),
      redirect: "manual",
      signal: late.signal,
    });
    const text = await readBody(response);
    return { status: response.status, headers: response.headers, text, json: parseJson(text) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    const part = chunk as Uint8Array;
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How the answer differs from all that may be answered; null: it does not. */
function compare(expected: readonly Expected[], answer: Answer, known: Known): string | null {
  const fitting = expected.filter(({ status }) => status === answer.status);
  if (fitting.length === 0) {
    const wanted = expected.map(({ status, code }) =>
      code === undefined ? `${status}` : `${status} ${code}`,
    );
    return `expected ${wanted.join(" or ")}, got ${answer.status} ${quote(answer.text)}`;
  }
  const faults = fitting.map((one) => findFault(one, answer, known));
  return faults.includes(null) ? null : `got ${answer.status}, but ${faults[0] ?? ""}`;
}

function findFault(expected: Expected, answer: Answer, known: Known): string | null {
  const { code, headers = {}, schemas, findFault: findMore } = expected;
  if (code !== undefined) {
    const fault = findProblemFault(code, answer);
    if (fault !== null) return fault;
  }
  return (
    findHeaderFault(headers, answer) ?? findFormFault(schemas, answer) ?? findMore?.(answer, known) ?? null
  );
}

function findHeaderFault(expected: NonNullable<Expected["headers"]>, { headers }: Answer): string | null {
  for (const [name, pattern] of Object.entries(expected)) {
    const value = headers.get(name);
    if (value === null) return `the header ${name} is missing`;
    if (!pattern.test(value)) return `the header ${name} is ${quote(value)}`;
  }
  return null;
}

function findFormFault(schemas: Expected["schemas"] = [], { json, text }: Answer): string | null {
  const mismatches = schemas.map((schema) => findMismatch(schema, json));
  const [mismatch = null] = mismatches;
  const differs = mismatch !== null && !mismatches.includes(null);
  return differs ? `the body differs at ${mismatch}: ${quote(text)}` : null;
}

/** Every refusal has this form, whatever refuses. */
function findProblemFault(code: string, { json, text, headers }: Answer): string | null {
  if (!/^application\/json\b/.test(headers.get("content-type") ?? ""))
    return `the content type is ${quote(headers.get("content-type") ?? "missing")}`;
  if (!isRecord(json)) return `the body is no JSON object: ${quote(text)}`;
  if (json["code"] !== code) return `"code" is not ${code}: ${quote(text)}`;
  const { detail } = json;
  return typeof detail === "string" && detail !== "" ? null : `"detail" is missing: ${quote(text)}`;
}

function quote(text: string): string {
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text;
}
