import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS } from "@platform/engine/testing/wait-until";
import { DEFAULT_TEMPLATE, createProject } from "../project/create-project.ts";

/** What runs the sources inside the repository. */
export const LAUNCHER = fileURLToPath(new URL("../../bin/platform.js", import.meta.url));

/** The program: its bundle, as users have it, where `npm test` has built that (tools/test.sh), else its sources. */
export const PROGRAM = process.env["PLATFORM_TEST_CLI"] ?? LAUNCHER;

/** Runs a command at a terminal and answers its prompts. */
export const TERMINAL = fileURLToPath(new URL("terminal.py", import.meta.url));

const LOOK_MILLISECONDS = 20;

/** Modules as a process before has compiled them (tools/run.sh): a command's start takes 0.22 s of CPU instead of 0.54 (2026-11-24). */
const COMPILE_CACHE = process.env["NODE_COMPILE_CACHE"];
const COMPILED = COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: COMPILE_CACHE };

interface CliOutcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliHome {
  /** An empty folder to work in. */
  readonly directory: string;
  readonly configDirectory: string;
  /** Makes a project `<directory>/<name>` from the plain template, as `platform init` does. */
  readonly createProject: (name: string) => Promise<string>;
  /** Runs one command to its end. */
  readonly run: (words: readonly string[], options?: RunOptions) => Promise<CliOutcome>;
  /** Starts one that goes on. */
  readonly start: (words: readonly string[], options?: RunOptions) => RunningCli;
  /** Ends what still runs and removes the folders. */
  readonly close: () => Promise<void>;
}

export interface RunOptions {
  /** Below the home's folder. */
  readonly folder?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly node?: string;
  readonly program?: string;
  /** Makes the command of another one, which starts it. */
  readonly wrap?: (command: readonly [string, ...string[]]) => readonly [string, ...string[]];
}

export interface RunningCli {
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly interrupt: (signal?: NodeJS.Signals) => void;
  readonly ended: Promise<CliOutcome>;
}

/** A user with an empty configuration and an empty folder, running the real program. */
export async function createCliHome(): Promise<CliHome> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "platform-cli-")));
  // As root, the sandbox's user must be able to read the environments that are kept below.
  await chmod(home, 0o755);
  const configDirectory = join(home, "config");
  const directory = await mkdtemp(join(home, "work-"));
  const running = new Set<ChildProcess>();

  const start = (words: readonly string[], options: RunOptions = {}): RunningCli => {
    const command = [options.node ?? process.execPath, options.program ?? PROGRAM, ...words] as const;
    const [file, ...args] = options.wrap?.(command) ?? command;
    const child = spawn(file, args, {
      cwd: join(directory, options.folder ?? "."),
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: home,
        ...COMPILED,
        PLATFORM_CONFIG_DIR: configDirectory,
        PLATFORM_CACHE_DIR: join(home, "cache"),
        ...options.variables,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    running.add(child);
    child.stdin.end(options.input ?? "");
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = new Promise<CliOutcome>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode) => {
        running.delete(child);
        resolve({ exitCode, stdout, stderr });
      });
    });
    return {
      stdout: () => stdout,
      stderr: () => stderr,
      interrupt: (signal = "SIGINT") => void child.kill(signal),
      ended,
    };
  };

  return {
    directory,
    configDirectory,
    createProject: async (name) => {
      const resources = { cpu: 1, memory: 1 };
      return (await createProject(directory, { name, template: DEFAULT_TEMPLATE, resources })).directory;
    },
    start,
    run: (words, options) => start(words, options).ended,
    close: async () => {
      for (const child of running) child.kill("SIGKILL");
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The value that `check` gives once it gives one; fails at a deadline, with what was seen last. */
export async function waitFor<T>(
  what: string,
  check: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
  }
}
