/** Structured fields of a log line. Errors go under `err`: pino writes the message and stack of an error only there. */
export interface LogFields {
  readonly error?: never;
  readonly [field: string]: unknown;
}

/** The part of pino's interface that is used here: fields first, then the message. */
export interface Logger {
  readonly debug: (fields: LogFields, message: string) => void;
  readonly info: (fields: LogFields, message: string) => void;
  readonly warn: (fields: LogFields, message: string) => void;
  readonly error: (fields: LogFields, message: string) => void;
}
