import process from "node:process";
import { pino } from "pino";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { createClosers } from "@platform/engine/base/closers";
import type { Closers } from "@platform/engine/base/closers";
import type { Tracer } from "@platform/engine/base/tracer";
import { createStop } from "../host/stop.ts";
import type { Stop } from "../host/stop.ts";

/** What every role needs of its process. */
export interface HostProcess {
  readonly config: Config;
  readonly logger: Logger;
  /** Close what was started, in reverse order. */
  readonly closers: Closers;
  readonly stop: Stop;
  /** Missing: no traces are written. */
  readonly tracer?: Tracer;
  /** For errors that nothing handles: logs the error and exits; PostgreSQL is stopped on exit. */
  readonly fail: (error: unknown) => void;
}

/**
 * Runs `start` in this process until a signal stops it.
 *
 * @throws what `start` throws, after closing what it had started; nothing when it was stopped while starting
 */
export async function runProcess(config: Config, start: (host: HostProcess) => Promise<void>): Promise<void> {
  const logger = createLogger(config);
  const closers = createClosers(logger);
  let starting: Promise<unknown> = Promise.resolve();
  const stop = createStop({
    // Only what has been started completely can be closed.
    close: () => starting.then(closers.closeAll),
    exit,
    onPhase: (phase, signal) =>
      logger.info({ signal }, phase === "draining" ? "stopping" : "ending what still runs"),
  });
  const fail = (error: unknown): void => {
    logger.fatal({ err: error }, "fatal error, exiting");
    stop.fail();
  };
  // A closed terminal (SIGHUP) asks for a stop as well: by default it would end this process and leave PostgreSQL.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop.ask);
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const started = start({ config, logger, closers, stop, fail });
  starting = started.catch(() => undefined);
  try {
    await started;
  } catch (error) {
    await closers.closeAll();
    if (!stop.stopping.aborted) throw error;
  }
}

/** A listener of "exit" that throws would keep the process, deaf to signals; the second call runs no listeners. */
function exit(code: number): void {
  try {
    process.exit(code);
  } catch {
    process.exit(code);
  }
}

/** Logs JSON lines to stderr. A closed terminal or pipe must not end the platform. */
function createLogger(config: Config): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on("error", () => undefined);
  return pino({ level: config.logLevel, base: null }, destination);
}
