import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { RequestRefused } from "@platform/contract/client";
import { computePause } from "@platform/engine/base/backoff";
import { formatBytes } from "./format-bytes.ts";
import { SECOND } from "@platform/engine/base/time";
import { isNetworkError } from "../base/explain-error.ts";
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
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), digest, { signal });
  return digest.digest("hex");
}

/** The refusal that an answer is. */
export async function readRefusal(response: Response): Promise<RequestRefused> {
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as { readonly code: string; readonly detail: string };
    if (typeof problem.code === "string" && typeof problem.detail === "string")
      return new RequestRefused(response.status, problem);
  } catch {
    // Of a proxy, or without a body.
  }
  const code = response.status === 404 ? "NOT_FOUND" : "REQUEST_FAILED";
  return new RequestRefused(response.status, { code, detail: `The platform answered ${response.status}.` });
}

const BACKOFF = { firstMs: 0.25 * SECOND, ceilingMs: 4 * SECOND };
/** Without a byte more. */
const PATIENCE = 60 * SECOND;

/**
 * Repeats steps until one says that all is done (not null). A step that fails for a time is tried again until nothing came for a minute.
 * `read`: how far it has come.
 *
 * @throws the last error; any other at once, and each when the signal aborts
 */
export async function persist<T>(
  step: () => Promise<T | null>,
  read: () => number,
  signal: AbortSignal,
): Promise<T> {
  let failures = 0;
  let reached = { at: Date.now(), done: read() };
  for (;;) {
    try {
      const done = await step();
      if (done !== null) return done;
    } catch (error) {
      if (read() > reached.done) failures = 0;
      const isOver = read() === reached.done && Date.now() - reached.at > PATIENCE;
      if (signal.aborted || isOver || !isPassing(error)) throw error;
      await pause(computePause(BACKOFF, failures), signal);
      failures += 1;
    }
    if (read() !== reached.done) reached = { at: Date.now(), done: read() };
  }
}

/** The connection broke while an answer was read: `fetch` says so in several ways. */
function isPassing(error: unknown): boolean {
  if (error instanceof RequestRefused)
    return PASSING.has(error.status) || error.status >= 500 || error.problem.code === "RATE_LIMITED";
  return isNetworkError(error) || (error instanceof TypeError && error.message === "terminated");
}

/** Among them 460: what came was damaged. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 423, 460]);
