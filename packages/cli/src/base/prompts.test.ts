import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PROGRAM, TERMINAL, createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";

const ENTER = "\r";
const DOWN = "\u001B[B";
const CONTROL_C = "\u0003";
const BACKSPACE = "\u007F";

let home: CliHome;

beforeEach(async () => {
  home = await createCliHome();
});

afterEach(() => home.close());

/** Runs a command at a terminal; each answer is typed once its text has been shown. */
const runAtTerminal = (
  words: readonly string[],
  answers: readonly (readonly [string, string])[],
  variables: Readonly<Record<string, string>> = {},
) =>
  home.run([JSON.stringify(answers), process.execPath, PROGRAM, ...words], {
    node: "python3",
    program: TERMINAL,
    variables: { TERM: "xterm", ...variables },
  });

test("init asks for name, template, vCPUs and memory, and corrects a wrong name", async () => {
  const { exitCode, stdout } = await runAtTerminal(
    ["init"],
    [
      ["Service name", `No${ENTER}`],
      ["Use at most 63 lower-case letters", `${BACKSPACE.repeat(2)}asked${ENTER}`],
      ["Starter template", `${DOWN}${ENTER}`],
      ["vCPUs", ENTER],
      ["Memory", `${BACKSPACE}2.5${ENTER}`],
    ],
  );
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Created");
  const text = await readFile(join(home.directory, "asked/platform.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ name: "asked", resources: { cpu: 1, memory: 2.5 } });
  expect(await readFile(join(home.directory, "asked/requirements.txt"), "utf8")).toContain("numpy");
});

test("Ctrl-C at a prompt ends the command and makes nothing", async () => {
  const { exitCode, stdout } = await runAtTerminal(["init"], [["Service name", CONTROL_C]]);
  expect(exitCode).toBe(130);
  expect(stdout).toContain("Interrupted");
  expect(await readdir(home.directory)).toEqual([]);
});

test("login hides the token that is typed, and set-context shows the organisations", async () => {
  const peer = await startPlatformPeer();
  try {
    const login = await runAtTerminal(
      ["login", "--endpoint", peer.url],
      [["Personal access token", `${TOKEN}${ENTER}`]],
    );
    expect(login.exitCode).toBe(0);
    expect(login.stdout).not.toContain(TOKEN);

    const chosen = await runAtTerminal(["set-context"], [["Quantum Lab", `${DOWN}${ENTER}`]]);
    expect(chosen.exitCode).toBe(0);
    expect(chosen.stdout).toContain("Working in 'Quantum Lab'");
  } finally {
    await peer.close();
  }
});

test("colours are shown at a terminal, and not with NO_COLOR or --no-color", async () => {
  const red = "\u001B[31merror:";
  expect((await runAtTerminal(["whoami"], [])).stdout).toContain(red);
  expect((await runAtTerminal(["whoami"], [], { NO_COLOR: "1" })).stdout).not.toContain(red);
  expect((await runAtTerminal(["whoami", "--no-color"], [])).stdout).not.toContain(red);
});

test("with --json a terminal is not asked either", async () => {
  const { exitCode, stdout } = await runAtTerminal(["init", "--json"], []);
  expect(exitCode).toBe(2);
  expect(stdout).toContain('"USAGE"');
});
