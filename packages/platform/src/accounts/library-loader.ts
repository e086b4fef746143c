import type { Pool } from "pg";
import type { Logger } from "../base/logger.ts";
import type { Library } from "./library.ts";
import { deriveKey } from "../secrets/seal.ts";

/** better-auth: its functions, and its context with the adapter of the database. */
export interface LoadedLibrary {
  readonly api: Library["api"];
  readonly context: Awaited<Library["$context"]>;
}

/** Loads the library at the first call; a failure is not kept. */
export type LoadLibrary = () => Promise<LoadedLibrary>;

/** As `IdentityOptions`. */
export interface LibraryLoaderOptions {
  readonly pool: Pool;
  readonly secret: string;
  readonly baseUrl: string;
  readonly logger: Logger;
}

/** Importing better-auth takes about 0.4 s and 25 MB (Node 24, 2 cores), so a process that verifies no users never loads it. */
export function createLibraryLoader(options: LibraryLoaderOptions): LoadLibrary {
  let loading: Promise<LoadedLibrary> | null = null;
  const load = async (): Promise<LoadedLibrary> => {
    const { createLibrary } = await import("./library.ts");
    const secret = deriveKey(options.secret, "better-auth").toString("base64url");
    const library = createLibrary({ ...options, secret });
    return { api: library.api, context: await library.$context };
  };
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
