import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";
import { COMMAND_GROUPS } from "../packages/cli/src/commands/commands.ts";
import { createProgram } from "../packages/cli/src/interpret.ts";
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
  const shown = (await readSources()).flatMap((text) =>
    [...text.matchAll(SHOWN)].map(([, words = ""]) => words),
  );
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.filter((words) => !isCommand(words))).toEqual([]);
});

test("the command line takes every command that the console shows, as it stands", async () => {
  const shown = new Set((await readSources()).flatMap(findCommands));
  expect(shown.size).toBeGreaterThan(60);
  const refused = [];
  for (const command of shown) if (await isRefused(command)) refused.push(command);
  expect(refused).toEqual([]);
});

/** What stands for a value, such as an id: commands may refuse the value, but not that there is one. */
const VALUE = "1";
const REFUSALS = new Set<unknown>([
  "commander.missingArgument",
  "commander.excessArguments",
  "commander.unknownOption",
]);

/** The commands of all texts that begin with one, also those behind `&&`. */
function findCommands(text: string): readonly string[] {
  const texts: string[] = [];
  new Visitor({
    Literal: ({ value }) => {
      if (typeof value === "string") texts.push(value);
    },
    TemplateLiteral: ({ quasis }) => {
      texts.push(quasis.map(({ value }) => value.cooked ?? "").join(VALUE));
    },
  }).visit(parseSync("page.tsx", text).program);
  return texts
    .filter((found) => found.startsWith("platform ") && !found.includes("\n"))
    .flatMap((found) => found.split(" && "))
    .filter((found) => found.startsWith("platform "));
}

async function isRefused(command: string): Promise<boolean> {
  const [words = ""] = command.split(" > ");
  const program = createProgram({
    groups: COMMAND_GROUPS,
    version: "",
    execute: () => Promise.resolve(undefined),
    writeOut: () => undefined,
    writeErr: () => undefined,
  });
  try {
    await program.parseAsync(words.split(" ").slice(1), { from: "user" });
    return false;
  } catch (error) {
    return REFUSALS.has(Reflect.get(Object(error), "code"));
  }
}

/** Empty states that no command fills: what they say is missing comes of a filter, of others, or of a right that the reader does not have. */
const WITHOUT_COMMAND = [
  '"No entry matches"',
  '"No execution matches"',
  '"No file matches"',
  '"No files"',
  '"No live version"',
  '"No organisation matches"',
  '"No plans"',
  '"No quantum job matches"',
  '"No service matches"',
  '"No user matches"',
  '"Nobody has subscribed"',
  '"Two executions are needed"',
  '"Who calls it is not shown"',
  '"Who has subscribed is not shown"',
  "{`Nobody calls ${version}`}",
  "{describeNone(props)}",
];

test("every empty state has a command that fills it, where there is one", async () => {
  const found = (await readSources()).flatMap(findEmptyStates);
  expect(found.length).toBeGreaterThan(40);
  const without = found.filter(({ hasCommand }) => !hasCommand).map(({ title }) => title);
  expect([...new Set(without)].toSorted()).toEqual(WITHOUT_COMMAND);
});

/** The texts of the console's files. */
async function readSources(): Promise<readonly string[]> {
  const names = (await readdir(APP, { recursive: true })).filter((name) => /(?<!\.test)\.tsx?$/u.test(name));
  return await Promise.all(names.map((name) => readFile(join(APP, name), "utf8")));
}

/** Each `<EmptyState>`: its title as it is written, and whether it has a command. */
function findEmptyStates(text: string): { readonly title: string; readonly hasCommand: boolean }[] {
  const found: { title: string; hasCommand: boolean }[] = [];
  new Visitor({
    JSXOpeningElement: ({ name, attributes }) => {
      if (name.type !== "JSXIdentifier" || name.name !== "EmptyState") return;
      const written = attributes.map(({ start, end }) => text.slice(start, end));
      const title = written.find((attribute) => attribute.startsWith("title="))?.slice("title=".length) ?? "";
      // What is spread may have a command for some kinds of a list.
      found.push({ title, hasCommand: written.some((attribute) => /\bcommand\b/u.test(attribute)) });
    },
  }).visit(parseSync("page.tsx", text).program);
  return found;
}
