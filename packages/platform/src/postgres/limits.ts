import { SECOND, MINUTE } from "@platform/engine/base/time";

/** How long the statements of one pool may take; milliseconds. */
export interface Limits {
  /** How long to wait for a free connection of the pool, or a new one. */
  readonly connectMs: number;
  /** The server cancels a statement that waits longer for a lock. */
  readonly lockMs: number;
  /** The server cancels a statement that takes longer in all. */
  readonly statementMs: number;
  /**
   * A connection that is in use for longer is broken: an unreachable server (a pulled cable, a frozen host, a firewall that
   * dropped the connection) never answers, and its socket still looks open. Longer than `statementMs`, so that a server
   * that can answer does so first.
   */
  readonly holdMs: number;
}

/** Ordinary statements, each on one record or one page of them. */
export const ORDINARY: Limits = {
  connectMs: 5 * SECOND,
  lockMs: 5 * SECOND,
  statementMs: 10 * SECOND,
  holdMs: 12 * SECOND,
};

/** Renewals of leases: a failed try must leave time for another one within a lease (30 s, given up at 24 s). */
export const VITAL: Limits = {
  connectMs: 3 * SECOND,
  lockMs: 3 * SECOND,
  statementMs: 5 * SECOND,
  holdMs: 7 * SECOND,
};

/** Lists and counts of executions: each statement is a bounded step of one (store/history/walk.ts). */
export const HISTORY: Limits = {
  connectMs: 5 * SECOND,
  lockMs: 2 * SECOND,
  statementMs: 5 * SECOND,
  holdMs: 7 * SECOND,
};

/**
 * Ends with large results: 15 MB took 1.4 s alone and 1.7 s three at a time (2 cores with a load of 8, 2026-11-22), so a
 * slow disk or half a core would exceed VITAL at every try. Leases are renewed meanwhile, on other connections.
 */
export const LARGE: Limits = {
  connectMs: 10 * SECOND,
  lockMs: 5 * SECOND,
  statementMs: 2 * MINUTE,
  holdMs: 125 * SECOND,
};

/** Migrations, partitions, statistics: enough for a large table. */
export const MAINTENANCE: Limits = {
  connectMs: 10 * SECOND,
  lockMs: 5 * MINUTE,
  statementMs: 30 * MINUTE,
  holdMs: 31 * MINUTE,
};

/** The server ends a transaction, and releases its locks, when its client sends nothing for so long. */
const IDLE_IN_TRANSACTION_MS = MINUTE;

/** With these the server notices within a minute that a client's host is unreachable; Unix sockets ignore them. */
const TCP_SETTINGS = {
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
  tcp_user_timeout: String(30 * SECOND),
} as const;

/** The limits as settings of a session (https://www.postgresql.org/docs/18/runtime-config-client.html). */
export function toSessionSettings({ lockMs, statementMs }: Limits): Readonly<Record<string, string>> {
  return {
    lock_timeout: String(lockMs),
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    ...TCP_SETTINGS,
  };
}
