import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { COMMANDS, COMMAND_GROUPS } from "./commands/commands.ts";
import { createProgram } from "./interpret.ts";
import { createCliHome } from "./testing/cli-process.ts";
import type { CliHome } from "./testing/cli-process.ts";

let home: CliHome;

beforeEach(async () => {
  home = await createCliHome();
});

afterEach(() => home.close());

test("--version prints the version and succeeds", async () => {
  const { exitCode, stdout } = await home.run(["--version"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("an unknown command is wrong usage and suggests the nearest", async () => {
  const { exitCode, stdout, stderr } = await home.run(["statsu"]);
  expect(exitCode).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("unknown command 'statsu'");
  expect(stderr).toContain("Did you mean status?");
});

test.each([
  [["frobnicate"], "frobnicate", "Run 'platform help' for all commands."],
  [["help", "frobnicate"], "frobnicate", "Run 'platform help' for all commands."],
  [["frobnicate", "--help"], "frobnicate", "Run 'platform help' for all commands."],
  [["--help", "frobnicate"], "frobnicate", "Run 'platform help' for all commands."],
  [["statsu", "-h"], "statsu", "(Did you mean status?)"],
  [["tokens", "lss", "--help"], "lss", "(Did you mean ls?) Run 'platform tokens --help' for its commands"],
  [["tokens", "frobnicate"], "frobnicate", "Run 'platform tokens --help' for its commands"],
  [["help", "tokens", "lss"], "lss", "(Did you mean ls?) Run 'platform tokens --help' for its commands"],
  [["budgets", "set", "EUR", "5"], "set", "Run 'platform budgets --help' for its commands"],
  [["backends", "shwo", "x"], "shwo", "(Did you mean show?)"],
  [["backends", "shwo", "--help"], "shwo", "(Did you mean show?)"],
  [["help", "backends", "shwo"], "shwo", "(Did you mean show?)"],
])("the unknown command of %j is named with what to do", async (words, word, advice) => {
  const { exitCode, stdout, stderr } = await home.run([...words, "--json"]);
  expect(exitCode).toBe(2);
  expect(stderr.replaceAll("\n", " ")).toContain(advice);
  const { error } = JSON.parse(stdout);
  expect(error).toMatchObject({ code: "USAGE", detail: `unknown command '${word}'` });
  expect(error.hint).toContain(advice);
});

test("help shows the help of all, of a group and of a command", async () => {
  for (const [words, shown] of [
    [["help"], "Usage: platform <command>"],
    [["help", "tokens"], "Usage: platform tokens <command>"],
    [["help", "tokens", "ls"], "Usage: platform tokens ls"],
    [["help", "status"], "Usage: platform status"],
    [["pools", "a-pool", "--help"], "Usage: platform pools"],
  ] as const) {
    const { exitCode, stdout } = await home.run(words);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(shown)]);
  }
});

test("no command at all shows the help and is wrong usage", async () => {
  const { exitCode, stderr } = await home.run([]);
  expect(exitCode).toBe(2);
  for (const { name, summary } of COMMANDS) {
    const [word = "", action] = name.split(" ");
    expect(stderr).toContain(word);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(action ?? summary);
  }
});

test("the help shows the commands by subject, each once, and the provider's beside the subscriber's of the same word", async () => {
  const { exitCode, stdout } = await home.run(["--help"]);
  expect(exitCode).toBe(0);
  for (const { title, commands } of COMMAND_GROUPS) {
    const part = stdout
      .slice(stdout.indexOf(`\n${title}:\n`))
      .trimStart()
      .split("\n\n")[0];
    for (const { name } of commands)
      expect(part).toMatch(new RegExp(`^  ${name.split(" ")[0] ?? ""}\\b`, "m"));
  }
  expect([...stdout.matchAll(/^  subscriptions +(.+):/gm)].map(([, actions]) => actions)).toEqual([
    "end",
    "ls, change, rm",
  ]);
  const listed = [...stdout.matchAll(/^  ([a-z][a-z-]*)\b/gm)].map(([, word]) => word);
  const words = COMMAND_GROUPS.flatMap(({ commands }) => [
    ...new Set(commands.map(({ name }) => name.split(" ")[0])),
  ]);
  expect(listed).toEqual(words);
});

test("an empty argument is wrong usage, and nothing is sent", async () => {
  const { exitCode, stderr } = await home.run(["applications", "create", ""]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("The name must not be empty.");
});

test("a list that takes no argument is what its group does without a command", async () => {
  const lists = COMMANDS.filter(({ name }) => name.endsWith(" ls"));
  const free = lists.filter(({ arguments: all }) => Object.keys(all).length === 0);
  expect(free.filter(({ isDefault }) => isDefault !== true)).toEqual([]);
  expect(free.map(({ name }) => name)).toContain("schedules ls");
  const { exitCode, stdout } = await home.run(["tokens", "--json"]);
  expect([exitCode, JSON.parse(stdout).error.code]).toEqual([1, "NOT_LOGGED_IN"]);
});

test("a list is called ls in every group of commands", () => {
  expect(COMMANDS.filter(({ name }) => name.endsWith(" list"))).toEqual([]);
});

test("a group of commands shows what it has, and is wrong usage without one", async () => {
  const { exitCode, stderr } = await home.run(["keys"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Usage: platform keys <command>");
  for (const { summary } of COMMANDS.filter(({ name }) => name.startsWith("keys ")))
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(summary);
  expect((await home.run(["keys", "lst"])).stderr).toContain("Did you mean ls?");
});

test.each(COMMANDS.map(({ name }) => name))("%s --help shows its usage and an example", async (name) => {
  const shown: string[] = [];
  const program = createProgram({
    groups: COMMAND_GROUPS,
    version: "1.0.0",
    writeOut: (text) => shown.push(text),
    writeErr: (text) => expect.fail(text),
    execute: () => expect.fail("help runs nothing"),
  });
  await expect(program.parseAsync([...name.split(" "), "--help"], { from: "user" })).rejects.toMatchObject({
    exitCode: 0,
  });
  expect(shown.join("")).toContain(`Usage: platform ${name}`);
  expect(shown.join("")).toContain("Examples:");
});

describe("with --json, standard output is one JSON value also when", () => {
  test.each([
    ["an option is unknown", ["services", "--nonsense", "--json"], 2, "USAGE"],
    ["an argument is missing", ["status", "--json"], 2, "USAGE"],
    ["a number is invalid", ["run", "--timeout", "soon", "--json"], 2, "USAGE"],
    ["options exclude each other", ["up", "--minor", "--version", "1.2.3", "--json"], 2, "USAGE"],
    ["a prompt would be needed", ["init", "--json"], 2, "USAGE"],
    ["no login is stored", ["whoami", "--json"], 1, "NOT_LOGGED_IN"],
    ["there is no project", ["compress", "--json"], 1, "INVALID_PROJECT"],
  ])("%s", async (_when, words, exitCode, code) => {
    const outcome = await home.run(words);
    expect(outcome.exitCode).toBe(exitCode);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ error: { code, detail: expect.any(String) } });
    expect(outcome.stderr).not.toBe("");
  });
});

test.each([
  ["login", "-t <token>"],
  ["init", "--name"],
])("%s does not prompt without a terminal, but names the option", async (name, option) => {
  const { exitCode, stdout, stderr } = await home.run([name]);
  expect(exitCode).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain(option);
});

test("a folder without platform.json is answered with the command that creates a project", async () => {
  const { stdout } = await home.run(["compress", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { hint: "Run this in a project's folder, or create a project with 'platform init'." },
  });
});

test("an error shows a stack with PLATFORM_DEBUG only", async () => {
  const plain = await home.run(["whoami"]);
  const debug = await home.run(["whoami"], { variables: { PLATFORM_DEBUG: "1" } });
  expect(plain.stderr).not.toMatch(/^\s+at /m);
  expect(debug.stderr).toMatch(/^\s+at /m);
});

test("an endpoint that is no URL is named instead of a stack", async () => {
  const { exitCode, stderr } = await home.run(["whoami"], {
    variables: { PLATFORM_ENDPOINT: "not a url", PLATFORM_PERSONAL_ACCESS_TOKEN: "t" },
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("'not a url' is not a URL");
});
