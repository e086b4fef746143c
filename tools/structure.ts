/** Sizes of the code, the arrows between its folders, and its doc comments; part of `npm run check`, which prints them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { exit, stderr, stdout } from "node:process";
import { parseSync, Visitor } from "oxc-parser";
import type { ParseResult, Span } from "oxc-parser";
import { MAY_IMPORT } from "./folders.ts";

/** Ceilings of a function's lines: of the longest one, and of 99 in 100. Lint names each that is too long. */
const MAX_LINES = 60;
const P99_LINES = 45;

interface Source {
  readonly path: string;
  readonly text: string;
  readonly functions: readonly number[];
  /** Files of this repository that it imports. */
  readonly imports: readonly string[];
  /** Names of exported declarations, and of those of them that have no doc comment. */
  readonly exported: readonly string[];
  readonly undocumented: readonly string[];
}

const sources = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "packages"], {
  encoding: "utf8",
})
  .split("\n")
  .filter(
    (path) =>
      /^packages\/(?:\w+\/src|console\/app)\/.*\.tsx?$/u.test(path) &&
      !/\.test\.tsx?$|\.gen\.ts$|\/testing\//u.test(path),
  )
  .filter((path) => existsSync(path))
  .map(readSource);
const folders = listFolders();
const faults = [...findLongFunctions(), ...findForbiddenImports(), ...findCycles(), ...findUndocumented()];
for (const fault of faults) stderr.write(`${fault}\n`);
exit(faults.length === 0 ? 0 : 1);

function readSource(path: string): Source {
  const text = readFileSync(path, "utf8");
  const parsed = parseSync(path, text);
  const { program, module } = parsed;
  const functions: number[] = [];
  const measure = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    functions.push(text.slice(start, end).split("\n").length);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start, end).replaceAll('"', ""),
  );
  // `export ... from` is an import as well.
  const exported = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value])),
  );
  const imported = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  const imports = [...imported, ...exported, ...dynamic]
    .map((specifier) => resolveImport(path, specifier))
    .filter((found) => found !== null);
  // Components are mostly markup; lint bounds them as all functions.
  const measured = path.startsWith("packages/console/") ? [] : functions;
  return { path, text, functions: measured, imports, ...listExported(text, parsed) };
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
  const found = new Map<string, Map<string, string>>();
  for (const { path, imports } of sources) {
    // Its folders are those of a page's parts: lint knows what it may import, and refuses cycles of files.
    if (path.startsWith("packages/console/")) continue;
    const from = toFolder(path);
    const arrows = found.get(from) ?? new Map<string, string>();
    found.set(from, arrows);
    for (const target of imports) {
      const to = toFolder(target);
      if (to !== from && target.endsWith(".ts")) arrows.set(to, `${path} imports ${target}`);
    }
  }
  const arrows = [...found.values()].reduce((sum, { size }) => sum + size, 0);
  stdout.write(`folders    ${found.size}, ${arrows} arrows between them\n`);
  return found;
}

/** `packages/engine/src/python/pool/boot.ts` -> `engine/python/pool` */
function toFolder(path: string): string {
  return dirname(path.replace(/^packages\//u, "").replace("/src/", "/"));
}

function findForbiddenImports(): readonly string[] {
  const unknown = [...folders.keys()].filter((folder) => MAY_IMPORT[folder] === undefined);
  const gone = Object.keys(MAY_IMPORT).filter((folder) => !folders.has(folder));
  const forbidden = [...folders].flatMap(([from, arrows]) =>
    [...arrows].filter(([to]) => !mayImport(from, to)).map(([, example]) => example),
  );
  return [
    ...unknown.map((folder) => `the folder ${folder} is not in tools/folders.ts`),
    ...gone.map((folder) => `tools/folders.ts names ${folder}, which has no files`),
    ...forbidden.map((example) => `not allowed by tools/folders.ts: ${example}`),
  ];
}

function mayImport(from: string, to: string): boolean {
  const [ownPackage = ""] = from.split("/");
  const allowed = MAY_IMPORT[from] ?? [];
  // Not even by a composition root, whose `*` means all folders of the product.
  if (to.endsWith("/testing")) return false;
  return (
    to.startsWith("contract") ||
    to === `${ownPackage}/base` ||
    allowed.some((folder) => folder === to || (folder.endsWith("*") && to.startsWith(folder.slice(0, -1))))
  );
}

function findCycles(): readonly string[] {
  const reach = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const to of folders.get(from)?.keys() ?? []) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  return [...folders].flatMap(([from, arrows]) =>
    [...arrows].filter(([to]) => reach(to).has(from)).map(([, example]) => `a cycle of folders: ${example}`),
  );
}

/** A doc comment belongs to the declaration that follows on the next line: after an empty line it is that of the file. */
function listExported(
  text: string,
  { program, comments }: ParseResult,
): Pick<Source, "exported" | "undocumented"> {
  const documents = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  const describeExport = (id: Span | null, isDocumented: boolean) => ({
    name: id === null ? "" : text.slice(id.start, id.end),
    isDocumented,
  });
  const declarations = program.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || statement.source !== null) return [];
    const { start, declaration, specifiers } = statement;
    // `export { name }` is no place for a comment: declarations are exported where they are.
    if (declaration === null) return specifiers.map(({ local }) => describeExport(local, false));
    const isDocumented = documents.some(
      ({ end }) => end < start && /^[ \t]*\n?[ \t]*$/u.test(text.slice(end, start)),
    );
    const ids =
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.map(({ id }) => id)
        : [declaration.id];
    return ids.map((id) => describeExport(id, isDocumented));
  });
  return {
    exported: declarations.map(({ name }) => name),
    undocumented: declarations.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name),
  };
}

function findUndocumented(): readonly string[] {
  const all = sources.flatMap(({ exported }) => exported);
  const missing = sources.flatMap(({ path, undocumented }) =>
    undocumented.map((name) => `${path}: ${name} is exported and has no doc comment`),
  );
  stdout.write(`exports    ${all.length}, ${missing.length} of them without a doc comment\n`);
  return missing;
}
