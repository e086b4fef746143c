import { fileURLToPath } from "node:url";

/** Set by build.ts: in the bundle, all modules lie in one file beside the assets. */
declare const PLATFORM_IS_BUNDLE: boolean | undefined;

/** Absolute path of a file that ships with the CLI: below this package, or beside the bundle. */
export function findAsset(path: string): string {
  const isBundle = typeof PLATFORM_IS_BUNDLE !== "undefined";
  return fileURLToPath(new URL(`${isBundle ? "./" : "../"}${path}`, import.meta.url));
}
