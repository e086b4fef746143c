import { fileURLToPath } from "node:url";

/** Set by build.ts: in the bundle, all modules lie in one file beside the assets. */
declare const PLATFORM_IS_BUNDLE: boolean | undefined;

const isBundle = typeof PLATFORM_IS_BUNDLE !== "undefined";

/** Absolute path of a file that ships with the CLI: below this package, or beside the bundle. */
export function findAsset(path: string): string {
  return fileURLToPath(new URL(`${isBundle ? "./" : "../../"}${path}`, import.meta.url));
}

/** What `serve` needs besides code: from the sources the engine finds it by itself, the bundle brings copies. */
export function findServeAssets(): { readonly runnerDirectory?: string; readonly docsDirectory?: string } {
  return isBundle ? { runnerDirectory: findAsset("runner"), docsDirectory: findAsset("swagger-ui") } : {};
}
