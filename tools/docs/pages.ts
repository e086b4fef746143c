import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** A page of documentation: `path` from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Begins every page that `npm run gen` writes: what is wrong there is wrong in its source. */
const GENERATED = "<!-- Written by";

/** All files of the working tree that git does not ignore. */
export function listFiles(): readonly string[] {
  return execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && existsSync(path));
}

/** The pages that people write. */
export function readPages(files: readonly string[]): readonly Page[] {
  return files
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }))
    .filter(({ text }) => !text.startsWith(GENERATED));
}
