import { fileURLToPath } from "node:url";

/** Set by build.ts. The bundle is one file, and the assets are next to it. */
declare const PLATFORM_IS_BUNDLE: boolean | undefined;

const isBundle = typeof PLATFORM_IS_BUNDLE !== "undefined";

/** Absolute path of a file that ships with the CLI. `path` is relative to this package, or to the folder of the bundle. */
export function findAsset(path: string): string {
  return fileURLToPath(new URL(`${isBundle ? "./" : "../../"}${path}`, import.meta.url));
}

/** What `serve` needs besides the program. Empty when running from sources: the engine then uses its own. */
export function findServeAssets(): {
  readonly runnerDirectory?: string;
  readonly docsDirectory?: string;
  readonly jsonThreadFile?: string;
} {
  if (!isBundle) return {};
  return {
    runnerDirectory: findAsset("runner"),
    docsDirectory: findAsset("swagger-ui"),
    jsonThreadFile: findAsset("json-check.js"),
  };
}
