import type { Logger as EngineLogger, LogFields } from "@platform/engine/base/logger";

/** The engine's logger with one more level, which only the platform uses. */
export interface Logger extends EngineLogger {
  readonly debug: (fields: LogFields, message: string) => void;
}
