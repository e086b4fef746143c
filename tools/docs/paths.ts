import { readFileSync } from "node:fs";
import { posix } from "node:path";
import type { Page } from "./pages.ts";

/** Pages for users name files of their own projects and data directories: only their links are checked. */
const FOR_USERS = /^(?:docs\/guide|examples|packages\/cli\/templates|\.github)\//;
/** What once was need not be there any more. */
const HISTORY = new Set(["CHANGELOG.md", "docs/decisions.md"]);

/** What is written as code and looks like a path of the repository: it ends in a slash or in the name of a kind of file. */
const PATH = /^[\w.@-]+(?:\/[\w.@-]+)*(?:\/|\.(?:ts|js|py|sql|sh|md|json|yml))$/;
const ALWAYS_A_SOURCE = /\.(?:ts|py|sql|sh)$/;

/** Every file and folder that a page names or links to must exist. */
export function findPathFaults(page: Page, files: readonly string[]): readonly string[] {
  const { path, text } = page;
  const namesOwnFiles = HISTORY.has(path) || FOR_USERS.test(path);
  return [
    ...(namesOwnFiles ? [] : findMissingPaths(withoutFences(text), files)),
    ...findBrokenLinks(page, files),
  ];
}

function findMissingPaths(prose: string, files: readonly string[]): readonly string[] {
  const names = [...prose.matchAll(/`([^`\n]+)`/gu)].map(([, name]) => name ?? "");
  return names
    .filter((name) => PATH.test(name) && (name.includes("/") || ALWAYS_A_SOURCE.test(name)))
    .filter((name) => !isThere(name, files))
    .map((name) => `there is no ${name}`);
}

/** By the end of its path, in which `src` may be left out; a folder, with a final slash, by any part. */
export function isThere(name: string, files: readonly string[]): boolean {
  const isFolder = name.endsWith("/");
  return files
    .flatMap((file) => [`/${file}`, `/${file.replace("/src/", "/")}`])
    .some((path) => (isFolder ? path.includes(`/${name}`) : path.endsWith(`/${name}`)));
}

/** A link leads to a file or folder, or to a heading of a page. */
function findBrokenLinks({ path, text }: Page, files: readonly string[]): readonly string[] {
  const targets = [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/gu)].map(([, target]) => target ?? "");
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file));
      if (anchor !== undefined && linked.endsWith(".md") && files.includes(linked))
        return !listAnchors(linked === path ? text : readFileSync(linked, "utf8")).includes(anchor);
      return !files.some((known) => known === linked || known.startsWith(`${linked.replace(/\/$/, "")}/`));
    })
    .map((target) => `a link leads nowhere: ${target}`);
}

/** The anchors that GitHub gives to headings. */
function listAnchors(text: string): readonly string[] {
  return [...withoutFences(text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutFences(text: string): string {
  return text.replaceAll(/^```.*?^```/gmsu, "");
}
