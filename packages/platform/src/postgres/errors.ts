/** The embedded server cannot run; the message says what to do about it. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedPostgresError";
  }
}

/** What every refusal of the embedded server ends with: the way out that always exists. */
export const USE_DATABASE_URL =
  "Or set DATABASE_URL to a PostgreSQL 15 (or newer) server of your own; the embedded one is then not started.";

/** SQLSTATE or system code of a thrown value, if it carries one. */
export function readErrorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
