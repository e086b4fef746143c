import type { Pool } from "pg";
import type { Logger } from "../base/logger.ts";
import type { Library } from "./library.ts";
import { deriveKey } from "../secrets/seal.ts";

export interface LoadedLibrary {
  readonly api: Library["api"];
  readonly context: Awaited<Library["$context"]>;
}

export type LoadLibrary = () => Promise<LoadedLibrary>;

export interface LibraryLoaderOptions {
  readonly pool: Pool;
  readonly secret: string;
  readonly baseUrl: string;
  readonly logger: Logger;
}

/** Importing better-auth takes about 0.4 s and 25 MB (Node 24, 2 cores), so a process that verifies nobody does without. */
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
