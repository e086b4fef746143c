import { SECOND, MINUTE } from "@platform/engine/base/time";

/** How long the statements of one pool may take; milliseconds. */
export interface Limits {
  /** For a free connection of the pool, or a new one. */
  readonly connectMs: number;
  /** The server cancels a statement that waits so long for a lock, or takes so long in all. */
  readonly lockMs: number;
  readonly statementMs: number;
  /**
   * A connection that is lent out longer is broken by us: a server that fell silent (a pulled cable, a frozen host, a
   * firewall that forgot us) never answers, and its side of the socket looks alive. Longer than `statementMs`, so that
   * a server that lives answers first.
   */
  readonly holdMs: number;
}

/** Ordinary statements: each touches the rows of one page or one thing. */
export const ORDINARY: Limits = {
  connectMs: 5 * SECOND,
  lockMs: 5 * SECOND,
  statementMs: 10 * SECOND,
  holdMs: 12 * SECOND,
};

/** What keeps leases alive: a lost try must leave time for another one within a lease (30 s, given up at 24 s). */
export const VITAL: Limits = {
  connectMs: 3 * SECOND,
  lockMs: 3 * SECOND,
  statementMs: 5 * SECOND,
  holdMs: 7 * SECOND,
};

/**
 * Ends that bring much to write: 15 MB took 1.4 s alone and 1.7 s three at a time (2 cores with a load of 8, 2026-11-22), so a
 * slow disk or half a core would exceed what is vital, each time again. Leases are kept meanwhile, on other connections.
 */
export const LARGE: Limits = {
  connectMs: 10 * SECOND,
  lockMs: 5 * SECOND,
  statementMs: 2 * MINUTE,
  holdMs: 125 * SECOND,
};

/** Migrations, partitions, statistics: as long as a large table takes, but never for ever. */
export const MAINTENANCE: Limits = {
  connectMs: 10 * SECOND,
  lockMs: 5 * MINUTE,
  statementMs: 30 * MINUTE,
  holdMs: 31 * MINUTE,
};

/** A transaction whose client fell silent gives its locks back after so long. */
const IDLE_IN_TRANSACTION_MS = MINUTE;

/** A client whose host is gone is noticed by the server within a minute; a unix socket ignores these. */
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
