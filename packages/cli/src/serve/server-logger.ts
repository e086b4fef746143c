import type { Logger } from "@platform/engine/base/logger";
import type { FastifyBaseLogger } from "fastify";
import type { Output } from "../base/output.ts";

/** A logger for the HTTP server as well as for the engine. */
export type ServerLogger = FastifyBaseLogger & Logger;

const ignore = () => undefined;

/** Creates a logger that prints lines for a developer: warnings and errors only, or all levels but trace with `isDebug`. */
export function createServerLogger(output: Output, isDebug: boolean): ServerLogger {
  const createLevel = (level: string) => (first: unknown, message?: string) => {
    const fields = typeof first === "object" && first !== null ? first : {};
    const text = message ?? (typeof first === "string" ? first : "");
    const cause = "err" in fields ? `: ${describeError(fields.err, isDebug)}` : "";
    output.note(`${level}: ${text}${cause}`);
  };
  const logger: ServerLogger = {
    level: isDebug ? "debug" : "warn",
    fatal: createLevel("fatal"),
    error: createLevel("error"),
    warn: createLevel("warning"),
    info: isDebug ? createLevel("info") : ignore,
    debug: isDebug ? createLevel("debug") : ignore,
    trace: ignore,
    silent: ignore,
    child: () => logger,
  };
  return logger;
}

function describeError(error: unknown, isDebug: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return isDebug ? (error.stack ?? error.message) : error.message;
}
