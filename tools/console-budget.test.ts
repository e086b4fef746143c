import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findExcess } from "./console-budget.ts";
import type { EntryBudget } from "./console-budget.ts";

/** Bytes after gzip, by file. */
const SIZES = {
  "assets/main-0123abcd.js": 60,
  "assets/first-0123abcd.js": 40,
  "assets/main-0123abcd.css": 30,
  "assets/page-0123abcd.js": 20,
  "assets/plot-0123abcd.js": 50,
  "icon.svg": 900,
};
const MODULES = {
  "index.html": {
    file: "assets/main-0123abcd.js",
    isEntry: true,
    imports: ["_first"],
    css: ["assets/main-0123abcd.css"],
  },
  _first: { file: "assets/first-0123abcd.js", imports: ["index.html"] },
  "page.tsx": { file: "assets/page-0123abcd.js", imports: ["_first"] },
  "plot.tsx": { file: "assets/plot-0123abcd.js" },
};
const ENOUGH = { entryScriptBytes: 100, styleBytes: 30, chunkBytes: 20, heavyChunks: { plot: 50 } };

/** What is too large of such a build. */
async function judge(budget: EntryBudget): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "platform-budget-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const modules = join(folder, "modules.json");
  await writeFile(modules, JSON.stringify(MODULES));
  const files = Object.entries(SIZES).map(([file, gzip]) => ({
    path: `/${file}`,
    file,
    type: "text/javascript",
    etag: '"a"',
    immutable: true,
    lengths: { identity: 1_000, gzip, br: 1 },
  }));
  return findExcess(budget, modules, files);
}

test.for([
  [{}, []],
  [{ entryScriptBytes: 99 }, ["scripts of the entry: 100 bytes"]],
  [{ styleBytes: 29 }, ["style sheets of the entry: 30 bytes"]],
  [{ chunkBytes: 19 }, ["page: 20 bytes"]],
  [{ heavyChunks: {} }, ["plot: 50 bytes"]],
  [{ heavyChunks: { plot: 49 } }, ["plot: 50 bytes"]],
  [
    { heavyChunks: { plot: 50, gone: 90 } },
    ["gone: the budget has a bound for it, and there is no such chunk"],
  ],
] as const)(
  "a build is refused for what has more bytes than the budget: with %j, %j",
  async ([less, said]) => {
    const found = await judge({ ...ENOUGH, ...less });
    expect(found.map((line) => line.split(" after gzip", 1)[0])).toEqual(said);
  },
);
