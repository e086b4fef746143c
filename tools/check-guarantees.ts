/** Every file and test that `docs/architecture/01-guarantees.md` names must exist; part of `npm run check`. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { exit, stderr } from "node:process";

const PAGE = "docs/architecture/01-guarantees.md";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
}).split("\n");
const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| guard "));
const faults = rows.flatMap((row) => {
  const [guard = "", tests = ""] = row.slice("| ".length).split(" |");
  return [...findGuardFaults(guard), ...tests.split("<br>").flatMap(findTestFault)];
});
for (const fault of faults) stderr.write(`${PAGE}: ${fault}\n`);
if (rows.length === 0) stderr.write(`${PAGE}: no table was found\n`);
exit(faults.length === 0 && rows.length > 0 ? 0 : 1);

/** Files of a guard are named by the end of their path, folders with a final slash. */
function findGuardFaults(guard: string): readonly string[] {
  const names = [...guard.matchAll(/`([^`]+(?:\.ts|\.py|\/))`/gu)].map(([, name]) => name ?? "");
  return names
    .filter((name) => !files.some((file) => `/${file}`.includes(`/${name}`)))
    .map((name) => `there is no ${name}`);
}

/** A test is named as it is written in its file, which the end of a path names. */
function findTestFault(test: string): readonly string[] {
  const [, file = "", name = ""] = /^`([^`]+)`: (.+)$/u.exec(test.trim()) ?? [];
  const found = files.filter((path) => `/${path}`.endsWith(`/${file}`));
  const [path] = found;
  if (file === "" || path === undefined || found.length > 1)
    return [`'${test}' names ${found.length} files instead of one`];
  const source = readFileSync(path, "utf8");
  const isThere = [`"${name}"`, `\`${name}\``].some((written) => source.includes(written));
  return isThere ? [] : [`${file} has no test '${name}'`];
}
