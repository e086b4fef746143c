import { fileURLToPath } from "node:url";

/** Set by build.ts. The bundle is one file, and the assets are next to it. */
declare const PLATFORM_IS_BUNDLE: boolean | undefined;

const isBundle = typeof PLATFORM_IS_BUNDLE !== "undefined";

/** Absolute path of a file that ships with the CLI. `path` is relative to this package, or to the folder of the bundle. */
export function findAsset(path: string): string {
  return fileURLToPath(new URL(`${isBundle ? "./" : "../../"}${path}`, import.meta.url));
}

/** What `serve` needs besides the program. When running from sources, the engine uses its own, and the page is that of `tools/build-console.ts`. */
export function findServeAssets(): {
  readonly tryDirectory: string;
  readonly runnerDirectory?: string;
  readonly docsDirectory?: string;
  readonly jsonThreadFile?: string;
} {
  if (!isBundle) return { tryDirectory: findAsset("../console/dist-try") };
  return {
    tryDirectory: findAsset("try"),
    runnerDirectory: findAsset("runner"),
    docsDirectory: findAsset("swagger-ui"),
    jsonThreadFile: findAsset("json-check.js"),
  };
}

/** The bundled backends, a project each, and the Python package that they are made with. */
export function findQuantumAssets(): { readonly backends: string; readonly sdk: string } {
  return isBundle
    ? { backends: findAsset("quantum/backends"), sdk: findAsset("quantum/platform_quantum") }
    : { backends: findAsset("../../backends"), sdk: findAsset("../../sdk/python/platform_quantum") };
}
