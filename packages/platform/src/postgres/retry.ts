import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { readErrorCode } from "./errors.ts";

/** What a failed statement leaves us knowing: did nothing, may have committed, or will fail again. */
export type FailureKind = "nothing-happened" | "ambiguous" | "permanent";

/** SQLSTATE (https://www.postgresql.org/docs/18/errcodes-appendix.html): refused at the door, or rolled back. */
const NOTHING_HAPPENED = new Set(["57P03", "53300", "40001", "40P01", "55P03", "57014"]);
/** The server stops or the connection broke: the commit may have been made, only its answer is lost. */
const BROKEN = new Set(["57P01", "57P02", "57P05", "25P03", "08000", "08001", "08003", "08004", "08006"]);
const SYSTEM_ERRORS = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EHOSTUNREACH",
]);
/** Texts of `pg` and `pg-pool` for broken connections; they carry no code. */
const BROKEN_TEXTS = [
  "Connection terminated",
  "Client has encountered a connection error",
  "timeout exceeded when trying to connect",
  "timeout expired",
];

/** Classifies what was thrown; `wasSent`: the statement had a connection, so it may have reached the server. */
export function classifyFailure(error: unknown, wasSent: boolean): FailureKind {
  const code = readErrorCode(error) ?? "";
  if (NOTHING_HAPPENED.has(code)) return "nothing-happened";
  const isBroken =
    BROKEN.has(code) ||
    SYSTEM_ERRORS.has(code) ||
    (error instanceof Error && BROKEN_TEXTS.some((text) => error.message.includes(text)));
  if (!isBroken) return "permanent";
  return wasSent ? "ambiguous" : "nothing-happened";
}

const FIRST_PAUSE = 20;
const PAUSE_CEILING = 500;

export interface RetryOptions {
  /** For how long to try again, in milliseconds. */
  readonly retryMilliseconds: number;
  /** The work may be repeated even when it may have been done already. */
  readonly idempotent: boolean;
}

/** Runs one try of something; tells `markSent` as soon as the server may have seen it. */
export type Try<T> = (markSent: () => void) => Promise<T>;

/**
 * Tries again, with jitter, while the server restarts or is out of reach; then throws Problem UNAVAILABLE.
 * Other errors pass through at once.
 */
export async function retryTransient<T>(options: RetryOptions, run: Try<T>): Promise<T> {
  const deadline = performance.now() + options.retryMilliseconds;
  for (let attempt = 0; ; attempt++) {
    let wasSent = false;
    try {
      return await run(() => {
        wasSent = true;
      });
    } catch (error) {
      const kind = classifyFailure(error, wasSent);
      if (kind === "permanent") throw error;
      const mayRepeat = kind === "nothing-happened" || options.idempotent;
      if (!mayRepeat || performance.now() >= deadline) throw describeUnavailable(error, kind);
      await delay(Math.min(PAUSE_CEILING, FIRST_PAUSE * 2 ** attempt) * (0.5 + Math.random()));
    }
  }
}

function describeUnavailable(cause: unknown, kind: FailureKind): Problem {
  if (kind === "nothing-happened") return new Problem("UNAVAILABLE", undefined, { cause });
  return new Problem(
    "UNAVAILABLE",
    "The database went away in the middle; look whether the change was made before repeating it.",
    {
      cause,
    },
  );
}
