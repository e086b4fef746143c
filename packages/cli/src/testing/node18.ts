import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const VERSION = "18.20.8";
const CACHE = fileURLToPath(new URL("../../../../.cache/node18", import.meta.url));

/**
 * Absolute path of a Node.js 18, the oldest that the CLI promises to run on; installed once from the package registry.
 * Throws, with npm's words, where it cannot be had: the promise is then not checked.
 */
export async function ensureNode18(): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const path = join(CACHE, "node_modules", name, "bin/node");
  try {
    await access(path);
    return path;
  } catch {
    const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", CACHE];
    await promisify(execFile)("npm", ["install", ...flags, `${name}@${VERSION}`]).catch((error: unknown) => {
      throw new Error(
        `Node.js ${VERSION} cannot be had, so the bundle is not checked on it: ${String(error)}`,
      );
    });
    await access(path);
    return path;
  }
}
