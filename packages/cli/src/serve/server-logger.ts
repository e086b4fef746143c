import type { Logger } from "@platform/engine/base/logger";
import type { FastifyBaseLogger } from "fastify";
import type { Output } from "../base/output.ts";

export type ServerLogger = FastifyBaseLogger & Logger;

const ignore = () => undefined;

/** The engine's log for a developer: only what went wrong, as lines; everything with `isDebug`. */
export function createServerLogger(output: Output, isDebug: boolean): ServerLogger {
  const tell = (level: string) => (first: unknown, message?: string) => {
    const fields = typeof first === "object" && first !== null ? first : {};
    const text = message ?? (typeof first === "string" ? first : "");
    const cause = "err" in fields ? `: ${describeError(fields.err, isDebug)}` : "";
    output.note(`${level}: ${text}${cause}`);
  };
  const logger: ServerLogger = {
    level: isDebug ? "debug" : "warn",
    fatal: tell("fatal"),
    error: tell("error"),
    warn: tell("warning"),
    info: isDebug ? tell("info") : ignore,
    debug: isDebug ? tell("debug") : ignore,
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
