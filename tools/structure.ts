/** Sizes of the code and the arrows between its folders; part of `npm run check`, which prints them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { exit, stderr, stdout } from "node:process";
import { parseSync, Visitor } from "oxc-parser";

/** Ceilings of a function's lines: of the longest one, and of 99 in 100. Lint names each that is too long. */
const MAX_LINES = 60;
const P99_LINES = 45;

interface Source {
  readonly path: string;
  readonly text: string;
  readonly functions: readonly number[];
  /** Files of this repository that it imports. */
  readonly imports: readonly string[];
}

const sources = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "packages"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => /^packages\/\w+\/src\/.*\.ts$/u.test(path) && !/\.test\.ts$|\/testing\//u.test(path))
  .filter((path) => existsSync(path))
  .map(readSource);
const faults = [...findLongFunctions(), ...findCycles(listFolders())];
for (const fault of faults) stderr.write(`${fault}\n`);
exit(faults.length === 0 ? 0 : 1);

function readSource(path: string): Source {
  const text = readFileSync(path, "utf8");
  const { program, module } = parseSync(path, text);
  const functions: number[] = [];
  const measure = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    functions.push(text.slice(start, end).split("\n").length);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  const imports = module.staticImports
    .map(({ moduleRequest }) => resolveImport(path, moduleRequest.value))
    .filter((found) => found !== null);
  return { path, text, functions, imports };
}

function resolveImport(path: string, specifier: string): string | null {
  const [, name, file] = /^@platform\/(\w+)\/(.+)$/u.exec(specifier) ?? [];
  if (name !== undefined && file !== undefined) return `packages/${name}/src/${file}.ts`;
  return specifier.startsWith(".") ? normalize(`${dirname(path)}/${specifier}`) : null;
}

function findLongFunctions(): readonly string[] {
  const files = sources.map(({ text }) => text.split("\n").length);
  const functions = sources.flatMap((source) => source.functions);
  stdout.write(`files      ${describe(files)}\nfunctions  ${describe(functions)}\n`);
  const p99 = findQuantile(functions, 0.99);
  return [
    ...(Math.max(...functions) > MAX_LINES ? [`a function has more than ${MAX_LINES} lines`] : []),
    ...(p99 > P99_LINES
      ? [`one function in a hundred has ${p99} lines or more; ${P99_LINES} are allowed`]
      : []),
  ];
}

function describe(lines: readonly number[]): string {
  const total = lines.length;
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => findQuantile(lines, share));
  return `${total}, lines: p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${Math.max(...lines)}`;
}

function findQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** What each folder imports, with one import of each for the message. */
function listFolders(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const folders = new Map<string, Map<string, string>>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      const [from, to] = [dirname(path), dirname(target)];
      if (from === to) continue;
      const arrows = folders.get(from) ?? new Map<string, string>();
      folders.set(from, arrows.set(to, `${path} imports ${target}`));
    }
  }
  const arrows = [...folders.values()].reduce((sum, { size }) => sum + size, 0);
  stdout.write(`folders    ${folders.size}, ${arrows} arrows between them\n`);
  return folders;
}

function findCycles(folders: ReadonlyMap<string, ReadonlyMap<string, string>>): readonly string[] {
  const reach = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const to of folders.get(from)?.keys() ?? []) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  return [...folders].flatMap(([from, arrows]) =>
    [...arrows].filter(([to]) => reach(to).has(from)).map(([, example]) => `a cycle of folders: ${example}`),
  );
}
