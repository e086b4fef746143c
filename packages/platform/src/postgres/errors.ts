/** The embedded server cannot run; the message says what to do. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedPostgresError";
  }
}

/** The last sentence of every EmbeddedPostgresError: the alternative that always exists. */
export const USE_DATABASE_URL =
  "Or set DATABASE_URL to a PostgreSQL 15 (or newer) server of your own; the embedded one is then not started.";
