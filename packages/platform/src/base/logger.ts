import type { Logger as EngineLogger, LogFields } from "@platform/engine/base/logger";

export interface Logger extends EngineLogger {
  readonly debug: (fields: LogFields, message: string) => void;
}
