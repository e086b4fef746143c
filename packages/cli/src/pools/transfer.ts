import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { RequestRefused } from "@platform/contract/client";
import { computePause } from "@platform/engine/base/backoff";
import { formatBytes } from "./format-bytes.ts";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { SECOND } from "@platform/engine/base/time";
import { isNetworkError } from "../base/explain-error.ts";
import { UserError } from "../base/errors.ts";
import type { Progress } from "../base/output.ts";
import { pause } from "../base/wait.ts";

/** Hears how many bytes of all are there. */
export type OnBytes = (done: number, total: number) => void;

const BAR = 24;

/** Shows a bar with what comes in a second, as the detail of a progress. Only what was moved since it was made is counted. */
export function createBar(progress: Pick<Progress, "detail">, now: () => number = Date.now): OnBytes {
  let first: { readonly at: number; readonly done: number } | null = null;
  return (done, total) => {
    first ??= { at: now(), done };
    const share = total === 0 ? 1 : done / total;
    const full = Math.floor(share * BAR);
    const seconds = (now() - first.at) / SECOND;
    const rate = seconds > 0 ? `, ${formatBytes((done - first.done) / seconds)}/s` : "";
    const bar = `${"=".repeat(full)}${" ".repeat(BAR - full)}`;
    progress.detail(`[${bar}] ${Math.floor(share * 100)} % of ${formatBytes(total)}${rate}`);
  };
}

/** SHA-256 of a file in hex. */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 * MEGABYTE }), digest, { signal });
  return digest.digest("hex");
}

/** Of a refusal: what is longer says nothing that can be read. */
const REFUSAL_CHARACTERS = 64 * 1024;

/** The refusal that an answer is. */
export async function readRefusal(response: Response): Promise<RequestRefused> {
  const text = await readStart(response);
  try {
    const problem = JSON.parse(text) as { readonly code: string; readonly detail: string };
    if (typeof problem.code === "string" && typeof problem.detail === "string")
      return new RequestRefused(response.status, problem);
  } catch {
    // Of a proxy, too long, or without a body.
  }
  const code = response.status === 404 ? "NOT_FOUND" : "REQUEST_FAILED";
  return new RequestRefused(response.status, { code, detail: `The platform answered ${response.status}.` });
}

/** The rest is not received. */
async function readStart({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  if (body === null) return text;
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > REFUSAL_CHARACTERS) break;
    }
  } catch {
    // It broke off: the status says enough.
  }
  return text;
}

const BACKOFF = { firstMs: 0.25 * SECOND, ceilingMs: 4 * SECOND };
/** Without a byte more. */
const PATIENCE = 60 * SECOND;

/** What `persist` knows of time. */
interface Clock {
  readonly now: () => number;
  readonly pause: typeof pause;
}

/** A step's end, or why there is none: null, when it just brought nothing. */
type Attempt<T> = { readonly done: T } | { readonly failure: unknown };

/**
 * Repeats steps until one says that all is done (not null). One that fails for a time, or brings nothing, is tried again after a pause,
 * until nothing came for a minute. `read`: how far it has come; only what is beyond all before counts.
 *
 * @throws the last error, UserError NO_PROGRESS; any other error at once, and each when the signal aborts
 */
export async function persist<T>(
  step: () => Promise<T | null>,
  read: () => number,
  signal: AbortSignal,
  clock: Clock = { now: Date.now, pause },
): Promise<T> {
  let failures = 0;
  let reached = { at: clock.now(), done: read() };
  for (;;) {
    const attempt = await tryStep(step, signal);
    if ("done" in attempt) return attempt.done;
    const { failure } = attempt;
    const hasCome = read() > reached.done;
    if (hasCome) {
      reached = { at: clock.now(), done: read() };
      failures = 0;
    } else if (clock.now() - reached.at > PATIENCE) throw failure ?? createNoProgress();
    if (hasCome && failure === null) continue;
    await clock.pause(computePause(BACKOFF, failures), signal);
    failures += 1;
  }
}

async function tryStep<T>(step: () => Promise<T | null>, signal: AbortSignal): Promise<Attempt<T>> {
  try {
    const done = await step();
    return done === null ? { failure: null } : { done };
  } catch (error) {
    if (signal.aborted || !isPassing(error)) throw error;
    return { failure: error };
  }
}

function createNoProgress(): UserError {
  return new UserError("NO_PROGRESS", "The platform answers, but nothing has moved for a minute.", {
    hint: "Run the same command again: it goes on where it ended.",
  });
}

/** The connection broke while an answer was read: `fetch` says so in several ways. */
function isPassing(error: unknown): boolean {
  if (error instanceof RequestRefused)
    return PASSING.has(error.status) || error.status >= 500 || error.problem.code === "RATE_LIMITED";
  return isNetworkError(error) || (error instanceof TypeError && error.message === "terminated");
}

/** Among them 460: what came was damaged. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 423, 460]);
