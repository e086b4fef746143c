import { readFileSync } from "node:fs";
import type { Page } from "./pages.ts";
import { isThere } from "./paths.ts";

export const GUARANTEES = "docs/architecture/01-guarantees.md";

/** Every file and test that the tables of the guarantees name must exist. */
export function findGuaranteeFaults({ text }: Page, files: readonly string[]): readonly string[] {
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| guard "));
  if (rows.length === 0) return ["no table was found"];
  return rows.flatMap((row) => {
    const [guard = "", tests = ""] = row.slice("| ".length).split(" |");
    return [
      ...findGuardFaults(guard, files),
      ...tests.split("<br>").flatMap((test) => findTestFault(test, files)),
    ];
  });
}

/** Files of a guard are named by the end of their path, folders with a final slash. */
function findGuardFaults(guard: string, files: readonly string[]): readonly string[] {
  const names = [...guard.matchAll(/`([^`]+(?:\.ts|\.py|\/))`/gu)].map(([, name]) => name ?? "");
  return names.filter((name) => !isThere(name, files)).map((name) => `there is no ${name}`);
}

/** A test is named as it is written in its file, which the end of a path names, `file`: name; one of Python by its function. */
export function findTestFault(test: string, files: readonly string[]): readonly string[] {
  const [, file = "", name = ""] = /^`([^`]+)`: (.+)$/u.exec(test.trim()) ?? [];
  const found = files.filter((path) => `/${path}`.endsWith(`/${file}`));
  const [path] = found;
  if (file === "" || path === undefined || found.length > 1)
    return [`'${test}' names ${found.length} files instead of one`];
  const source = readFileSync(path, "utf8");
  const hasTest = [`"${name}"`, `\`${name}\``, `def ${name}(`].some((written) => source.includes(written));
  return hasTest ? [] : [`${file} has no test '${name}'`];
}
