import type { Logger } from "./logger.ts";

export interface RecordingLogger extends Logger {
  readonly entries: { readonly level: string; readonly message: string; readonly fields: object }[];
}

/** Keeps what was logged, so that tests can look at it and their output stays quiet. */
export function createRecordingLogger(): RecordingLogger {
  const entries: RecordingLogger["entries"] = [];
  const record = (level: string) => (fields: object, message: string) =>
    void entries.push({ level, message, fields });
  return {
    entries,
    debug: record("debug"),
    info: record("info"),
    warn: record("warn"),
    error: record("error"),
  };
}
