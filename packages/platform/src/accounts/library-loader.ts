import type { Library, LibraryOptions } from "./library.ts";

/** better-auth: its functions, and its context with the adapter of the database. */
export interface LoadedLibrary {
  readonly api: Library["api"];
  readonly context: Awaited<Library["$context"]>;
}

/** Loads the library at the first call; a failure is not kept. */
export type LoadLibrary = () => Promise<LoadedLibrary>;

/** Importing better-auth takes about 0.4 s and 25 MB (Node 24, 2 cores), so a process that verifies no users never loads it. */
export function createLibraryLoader(options: LibraryOptions): LoadLibrary {
  let loading: Promise<LoadedLibrary> | null = null;
  const load = async (): Promise<LoadedLibrary> => {
    const { createLibrary } = await import("./library.ts");
    const library = createLibrary(options);
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
