import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A file of the built console, as `manifest.json` lists it. */
export interface BuiltFile {
  readonly path: string;
  readonly file: string;
  readonly type: string;
  /** With its quotation marks. */
  readonly etag: string;
  readonly immutable: boolean;
  /** Bytes of its forms. */
  readonly lengths: { readonly identity: number; readonly gzip: number; readonly br: number };
}

/** Bytes after gzip of one build. */
export interface EntryBudget {
  /** Scripts that the first page loads before it shows anything. */
  readonly entryScriptBytes: number;
  /** All of the entry's style sheets. */
  readonly styleBytes: number;
  /** Any other script or style sheet. */
  readonly chunkBytes: number;
  /** Exceptions, by the name of the chunk without its hash. */
  readonly heavyChunks?: Readonly<Record<string, number>>;
}

/** packages/console/budget.json. */
export interface Budget extends EntryBudget {
  /** The first page of a visit, on a slow machine behind a slow line (tests/e2e/console/slow-or-by-keys.e2e.ts, bench/console.ts). */
  readonly firstPage: {
    readonly requests: number;
    /** Those of them that the platform API answers before the page has its heading. */
    readonly apiRequestsBefore: number;
    /** All that the platform API answers. */
    readonly apiRequests: number;
    /** As Chromium sums it. */
    readonly layoutShift: number;
    /** How much longer it may take than a page that has `entryScriptBytes` of script and does nothing, in the same run. */
    readonly timesOfBarePage: number;
  };
  /** Of the page of `platform serve`. */
  readonly try: EntryBudget;
}

/** A line of what Vite writes of its chunks. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

export async function readBudget(folder: string): Promise<Budget> {
  return JSON.parse(await readFile(join(folder, "budget.json"), "utf8")) as Budget;
}

/** Bytes after gzip, the largest first. */
export function describeSizes(files: readonly BuiltFile[]): readonly string[] {
  return files
    .toSorted((a, b) => b.lengths.gzip - a.lengths.gzip)
    .map(({ file, lengths: { gzip, br } }) => `${gzip} gzip ${br} br ${file}`);
}

/** What is too large, and exceptions that are for nothing, a line each. `modules`: Vite's manifest. */
export function findExcess(
  budget: EntryBudget,
  modules: string,
  files: readonly BuiltFile[],
): readonly string[] {
  const chunks = JSON.parse(readFileSync(modules, "utf8")) as Readonly<Record<string, Chunk>>;
  const size = (file: string) => files.find((one) => one.file === file)?.lengths.gzip ?? 0;
  const sum = (names: Iterable<string>) => [...names].reduce((total, name) => total + size(name), 0);
  const { scripts, styles } = collectEntry(chunks);
  const excess = [
    describe("scripts of the entry", sum(scripts), budget.entryScriptBytes),
    describe("style sheets of the entry", sum(styles), budget.styleBytes),
  ];
  const unused = new Set(Object.keys(budget.heavyChunks ?? {}));
  for (const { file } of files) {
    if (!file.startsWith("assets/") || scripts.has(file) || styles.has(file)) continue;
    const name = file.slice("assets/".length).replace(/-[\w-]{8}\.\w+$/u, "");
    unused.delete(name);
    excess.push(describe(name, size(file), budget.heavyChunks?.[name] ?? budget.chunkBytes));
  }
  excess.push(
    ...[...unused].map((name) => `${name}: the budget has a bound for it, and there is no such chunk`),
  );
  return excess.filter((line) => line !== null);
}

function describe(what: string, bytes: number, limit: number): string | null {
  return bytes > limit ? `${what}: ${bytes} bytes after gzip; ${limit} are allowed` : null;
}

/** The entry, and what it imports statically. */
function collectEntry(chunks: Readonly<Record<string, Chunk>>) {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (chunk: Chunk | undefined) => {
    if (chunk === undefined || scripts.has(chunk.file)) return;
    scripts.add(chunk.file);
    for (const file of chunk.css ?? []) styles.add(file);
    for (const name of chunk.imports ?? []) visit(chunks[name]);
  };
  for (const chunk of Object.values(chunks)) if (chunk.isEntry === true) visit(chunk);
  return { scripts, styles };
}
