/** `npm run check`: each step is a line of `STEPS`. Every step runs, so that one call shows all. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { exit, stdout } from "node:process";

/** A checker from PyPI, installed when it is needed. */
const TOOL = ["sh", "tools/check-tool.sh"] as const;

const STEPS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["types", "tsc", "-p", "tsconfig.json"],
  ["types of the console", "tsc", "-p", "packages/console/tsconfig.json"],
  ["types of its stories", "tsc", "-p", "tests/e2e/console/tsconfig.json"],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["format", "oxfmt", "--check"],
  ["unused code", "knip"],
  ["python format", ...TOOL, "ruff", "format", "--quiet", "--diff"],
  ["python lint", ...TOOL, "ruff", "check", "--quiet"],
  ["python types", ...TOOL, "mypy", "--no-error-summary"],
  ["shell lint", ...TOOL, "shellcheck", "--external-sources", ...listShellScripts()],
  ["structure", "node", "tools/structure.ts"],
  ["documentation", "node", "tools/check-docs.ts"],
  ["generated files", "node", "tools/gen.ts", "--check"],
];

const failed = STEPS.filter(([name, command, ...args]) => {
  stdout.write(`check: ${name}\n`);
  return spawnSync(command, args, { stdio: "inherit" }).status !== 0;
});
for (const [name] of failed) stdout.write(`check failed: ${name}\n`);
exit(failed.length === 0 ? 0 : 1);

/** What git knows, except what is ignored: by suffix or, where a name has none, by the interpreter of its first line. */
function listShellScripts(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const files = listed.split("\n").filter((path) => path !== "" && existsSync(path));
  return files.filter((path) => path.endsWith(".sh") || (!/\.\w+$/u.test(path) && isShellScript(path)));
}

function isShellScript(path: string): boolean {
  return /^#!.*\b(?:ba)?sh\b/u.test(readFileSync(path, "utf8"));
}
