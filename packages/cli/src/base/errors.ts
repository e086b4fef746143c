/** Exit codes of the process. */
export const EXIT_CODES = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** Exit code of the process. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** What a `UserError` carries besides code and message. */
export interface UserErrorOptions extends ErrorOptions {
  /** What the user can do about it, as sentences. */
  readonly hint?: string;
  /** Lines below the message, e.g. one for each invalid field with its reason. */
  readonly details?: readonly string[];
  /** Default: 1. */
  readonly exitCode?: ExitCode;
}

/** An error that the user can act on: the message says what went wrong, the hint what to do. Anything else that is thrown is a bug. */
export class UserError extends Error {
  /** Machine-readable code for `--json`, e.g. `NOT_LOGGED_IN`. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: readonly string[];
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, options: UserErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? [];
    this.exitCode = options.exitCode ?? EXIT_CODES.failure;
  }
}

/** Creates the error for a wrong command line: exit code 2. */
export function createUsageError(message: string, hint?: string): UserError {
  return new UserError("USAGE", message, {
    exitCode: EXIT_CODES.usage,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Creates the error for SIGINT (Ctrl-C) and SIGTERM: exit code 130. */
export function createInterruption(hint?: string): UserError {
  return new UserError("INTERRUPTED", "Interrupted.", {
    exitCode: EXIT_CODES.interrupted,
    ...(hint === undefined ? {} : { hint }),
  });
}
