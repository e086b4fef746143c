/** `npm run check`: types, lint, format, unused code, and generated files that are current. Every step runs, so that one call shows all. */
import { spawnSync } from "node:child_process";
import { exit, stdout } from "node:process";

const STEPS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["types", "tsc", "-p", "tsconfig.json"],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["format", "oxfmt", "--check"],
  ["unused code", "knip"],
  ["guarantees", "node", "tools/check-guarantees.ts"],
  ["generated files", "node", "tools/gen.ts", "--check"],
];

const failed = STEPS.filter(([name, command, ...args]) => {
  stdout.write(`check: ${name}\n`);
  return spawnSync(command, args, { stdio: "inherit" }).status !== 0;
});
for (const [name] of failed) stdout.write(`check failed: ${name}\n`);
exit(failed.length === 0 ? 0 : 1);
