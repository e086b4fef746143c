export const EXIT_CODES = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export interface UserErrorOptions extends ErrorOptions {
  /** What the user can do about it. */
  readonly hint?: string;
  /** One line each: which field or file, and what is wrong with it. */
  readonly faults?: readonly string[];
  readonly exitCode?: ExitCode;
}

/** The user's to mend: says what happened, to which thing, and what to do. Everything else that is thrown is a bug of ours. */
export class UserError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly faults: readonly string[];
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, options: UserErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.code = code;
    this.hint = options.hint;
    this.faults = options.faults ?? [];
    this.exitCode = options.exitCode ?? EXIT_CODES.failure;
  }
}

/** The command line itself is wrong: exit code 2. */
export function createUsageError(message: string, hint?: string): UserError {
  return new UserError("USAGE", message, {
    exitCode: EXIT_CODES.usage,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The user pressed Ctrl-C, or the process was asked to end. */
export function createInterruption(hint?: string): UserError {
  return new UserError("INTERRUPTED", "Interrupted.", {
    exitCode: EXIT_CODES.interrupted,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The `code` of an operating-system or TLS error (`ENOENT`), or undefined. */
export function getErrorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The message of anything that was thrown. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
