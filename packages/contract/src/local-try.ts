/** Where `platform serve` has the page that tries the project, below its URL. */
export const TRY_PATH = "/try";

/** What that page shows of the project. */
export const TRY_PROJECT_PATH = `${TRY_PATH}/project.json`;

/** The project as it is served now, for its page. */
export interface LocalTry {
  readonly name: string;
  /** Another one after each reload. */
  readonly version: string;
  /** JSON Schema of a start's body; null: `run` has no type hints. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  /** JSON texts of the project's example, digit by digit; null: there is none. */
  readonly example: { readonly data: string | null; readonly params: string | null };
  /** Why others do not see the example on a platform, a sentence each. */
  readonly exampleNotes: readonly string[];
  /** Why the code cannot be loaded: every execution fails with it. Null: it was loaded. */
  readonly failure: {
    readonly code: string;
    readonly detail: string;
    readonly traceback: string | null;
  } | null;
  /** Why the last edit is not served, and the version before it still is; null: it is. */
  readonly reloadFault: string | null;
}
