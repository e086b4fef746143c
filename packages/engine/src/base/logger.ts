/** What a log line carries besides its sentence. Errors go under `err`: pino writes their message and stack there only. */
export interface LogFields {
  readonly error?: never;
  readonly [field: string]: unknown;
}

/** The part of pino's interface that we use: fields first, then one sentence. */
export interface Logger {
  readonly info: (fields: LogFields, message: string) => void;
  readonly warn: (fields: LogFields, message: string) => void;
  readonly error: (fields: LogFields, message: string) => void;
}
