import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { computePause } from "@platform/engine/base/backoff";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { getCode } from "@platform/engine/base/thrown";

/** What is known about a failed statement: it did nothing, it may have been committed, or it would fail again. */
type FailureKind = "nothing-happened" | "ambiguous" | "permanent";

/**
 * SQLSTATE (https://www.postgresql.org/docs/18/errcodes-appendix.html): refused, or rolled back. A disk that is
 * full or fails while a commit is written is not among these: the server then panics, and the connection breaks.
 */
const NOTHING_HAPPENED = new Set([
  "25006", // read_only_sql_transaction: a standby after a failover, or a server that was set read-only since its disk is full
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "53000", // insufficient_resources
  "53100", // disk_full
  "53200", // out_of_memory
  "53300", // too_many_connections
  "53400", // configuration_limit_exceeded
  "55P03", // lock_not_available: our lock_timeout
  "57014", // query_canceled: our statement_timeout
  "57P03", // cannot_connect_now: it starts, stops or recovers
  "58000", // system_error
  "58030", // io_error
]);
/** The server stops or the connection broke: the statement may have been committed, with only its answer lost. */
const BROKEN = new Set([
  "08000", // connection_exception
  "08001", // sqlclient_unable_to_establish_sqlconnection
  "08003", // connection_does_not_exist
  "08004", // sqlserver_rejected_establishment_of_sqlconnection
  "08006", // connection_failure
  "08007", // transaction_resolution_unknown
  "08P01", // protocol_violation: what PgBouncer says when its server went away
  "25P03", // idle_in_transaction_session_timeout
  "25P04", // transaction_timeout
  "40003", // statement_completion_unknown
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P05", // idle_session_timeout
]);
const SYSTEM_ERRORS = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EMFILE",
  "ENFILE",
]);
/** Texts of `pg` and `pg-pool` for broken connections; they carry no code. */
const BROKEN_TEXTS = [
  "Connection terminated",
  "Client has encountered a connection error",
  "timeout exceeded when trying to connect",
  "timeout expired",
];

/** Classifies an error; `wasSent`: the statement had a connection, so it may have reached the server. */
function classifyFailure(error: unknown, wasSent: boolean): FailureKind {
  const code = getCode(error) ?? "";
  if (NOTHING_HAPPENED.has(code)) return "nothing-happened";
  const isBroken =
    BROKEN.has(code) ||
    SYSTEM_ERRORS.has(code) ||
    (error instanceof Error && BROKEN_TEXTS.some((text) => error.message.includes(text)));
  if (!isBroken) return "permanent";
  return wasSent ? "ambiguous" : "nothing-happened";
}

/** Whether a connection must not be reused: it is broken, or its server is read-only and may be a former primary. */
export function isConnectionSpent(error: unknown): boolean {
  return getCode(error) === "25006" || classifyFailure(error, true) === "ambiguous";
}

const BACKOFF = { firstMs: 20, ceilingMs: 500 };

/** The connection was lost during a statement: the change may have been made, or may still be made. */
export class FateUnknown extends Problem {
  constructor(cause: unknown) {
    super(
      "UNAVAILABLE",
      "The connection to the database was lost, so it is unknown whether the change was made. Check before repeating it.",
      { cause },
    );
  }
}

/** When a failed try is repeated. */
export interface RetryOptions {
  /** For how long tries are repeated. */
  readonly retryMilliseconds: number;
  /** Repeat it also when it may have been done already. */
  readonly idempotent: boolean;
}

/** One try; calls `markSent` as soon as the server may have received something. */
export type Try<T> = (markSent: () => void) => Promise<T>;

/**
 * Repeats a try, with jitter, while the server restarts or is unreachable.
 *
 * @throws Problem UNAVAILABLE when it stays so and nothing was changed, FateUnknown when something may have been; other
 * errors at once
 */
export async function retryTransient<T>(options: RetryOptions, run: Try<T>): Promise<T> {
  const deadline = readMonotonic() + options.retryMilliseconds;
  let mayHaveHappened = false;
  for (let attempt = 0; ; attempt++) {
    let wasSent = false;
    try {
      return await run(() => {
        wasSent = true;
      });
    } catch (error) {
      const kind = classifyFailure(error, wasSent);
      if (kind === "permanent") throw error;
      // A later try that did nothing says nothing about the tries before it.
      mayHaveHappened ||= kind === "ambiguous";
      const mayRepeat = kind === "nothing-happened" || options.idempotent;
      if (!mayRepeat || readMonotonic() >= deadline)
        throw mayHaveHappened
          ? new FateUnknown(error)
          : new Problem("UNAVAILABLE", undefined, { cause: error });
      await delay(computePause(BACKOFF, attempt));
    }
  }
}
