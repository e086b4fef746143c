import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REPOSITORY } from "./platform-process.ts";

const APP = join(REPOSITORY, "packages/console/app");
/** A command as the console shows it: in `command="…"`, or in a template. */
const SHOWN = /["`]platform ((?:[a-z-]+ ?)+)/gu;

test("every command that the console shows is one of the command line", async () => {
  const guide = await readFile(join(REPOSITORY, "docs/guide/cli.md"), "utf8");
  const known = new Set([...guide.matchAll(/^## ([a-z -]+)$/gmu)].map(([, name]) => name));
  const isCommand = (words: string) => {
    const [first = "", second = ""] = words.trim().split(" ");
    return known.has(first) || known.has(`${first} ${second}`);
  };
  const shown: string[] = [];
  for (const name of await readdir(APP, { recursive: true })) {
    if (!/\.tsx?$/u.test(name)) continue;
    const text = await readFile(join(APP, name), "utf8");
    shown.push(...[...text.matchAll(SHOWN)].map(([, words = ""]) => words));
  }
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.filter((words) => !isCommand(words))).toEqual([]);
});
