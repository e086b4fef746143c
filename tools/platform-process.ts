import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { cwd, env, execPath } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** What `--bootstrap` writes. */
export interface Login {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly email: string;
  readonly password: string;
  readonly organizationId: string;
  readonly personalAccessToken: string;
}

export interface PlatformProcess {
  readonly process: ChildProcess;
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  readonly bootstrapFile: string;
  readonly readLogin: () => Promise<Login>;
  /** The last lines of its log. */
  readonly readLog: () => string;
  /** SIGTERM, and waits until it is gone. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, and waits until it is gone. */
  readonly kill: () => Promise<void>;
}

export interface StartOptions {
  readonly dataDirectory: string;
  readonly role?: string;
  readonly gatewayPort?: number;
  readonly apiPort?: number;
  /** More flags, e.g. `["--lease-seconds", "3"]`. */
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What takes the flags, e.g. `["npm", "start", "--"]`; default: the platform itself. Runs in a group of its own. */
  readonly command?: readonly [string, ...string[]];
  /** Default: in the data directory. */
  readonly bootstrapFile?: string;
}

export const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
/** The command line: its bundle where `npm test` has built it, else its sources. */
export const CLI = env["PLATFORM_TEST_CLI"] ?? join(REPOSITORY, "packages/cli/bin/platform.js");
const MAIN = join(REPOSITORY, "packages/platform/src/main.ts");
/** As `npm start` does it. */
export const PLATFORM_COMMAND: readonly [string, ...string[]] = [execPath, "--max-semi-space-size=8", MAIN];
const SECOND = 1_000;
const READY_WITHIN = 180 * SECOND;
const ANSWER_WITHIN = 5 * SECOND;
const LOG_KEPT = 64 * 1024;

/** Starts the platform and waits until it is ready. Ports are free ones unless given. */
export async function startPlatform(options: StartOptions): Promise<PlatformProcess> {
  const platform = await spawnPlatform(options);
  await waitUntilReady(platform).catch(async (error: unknown) => {
    await platform.kill();
    throw error;
  });
  return platform;
}

/** Starts the platform and waits for nothing. */
export async function spawnPlatform(options: StartOptions): Promise<PlatformProcess> {
  const gatewayPort = options.gatewayPort ?? (await findFreePort());
  const apiPort = options.apiPort ?? (await findFreePort());
  const bootstrapFile = options.bootstrapFile ?? join(options.dataDirectory, "bootstrap.json");
  const [file, ...words] = options.command ?? PLATFORM_COMMAND;
  const child = spawn(
    file,
    [
      ...words,
      ...toFlags({
        role: options.role ?? "all",
        "data-dir": options.dataDirectory,
        bootstrap: bootstrapFile,
        "gateway-port": gatewayPort,
        "api-port": apiPort,
      }),
      ...(options.flags ?? []),
    ],
    {
      cwd: options.command === undefined ? cwd() : REPOSITORY,
      detached: options.command !== undefined,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...env, ...options.environment },
    },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (log = (log + chunk).slice(-LOG_KEPT)));
  const gone = once(child, "exit");
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await gone;
  };
  return {
    process: child,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    bootstrapFile,
    readLogin: async () => JSON.parse(await readFile(bootstrapFile, "utf8")) as Login,
    readLog: () => log,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

function toFlags(settings: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** @throws Error with its log when it ends, or takes too long */
export async function waitUntilReady(platform: PlatformProcess): Promise<void> {
  const deadline = performance.now() + READY_WITHIN;
  // Gateway and platform API have a port each; a process without the role still answers /readyz on both.
  for (const url of [platform.gatewayUrl, platform.apiUrl]) {
    while (!(await isReady(url))) {
      if (hasEnded(platform) || performance.now() > deadline)
        throw new Error(`the platform did not become ready:\n${platform.readLog()}`);
      await delay(50);
    }
  }
}

/** By itself, or by a signal. */
export function hasEnded({ process }: PlatformProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

async function isReady(url: string): Promise<boolean> {
  try {
    // A process may be stopped, or its host cut off, between its begin to listen and its answer.
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * Ports that systems give neither to connections nor to listeners that ask for any (ip_local_port_range): none is taken between
 * its choice and its use, which is a second later. Workers of one test run, and fleets of a fault campaign, choose from shares of them.
 * The first is behind 10080, which browsers and `fetch` refuse (fetch.spec.whatwg.org, "bad port").
 */
const PORTS = { first: 10_100, shares: 8, inShare: 2_500 };
const SHARE = "PLATFORM_TEST_PORT_SHARE";
/** What this process has chosen; who is to listen there may not do so yet. */
const chosen = new Set<number>();

/** A port that is free, and chosen by no other caller in this test run; outside of tests the wanted one if it is free. */
export async function findFreePort(wanted?: number): Promise<number> {
  // Two processes that tests start would both want it.
  if (wanted !== undefined && env["VITEST_POOL_ID"] === undefined && (await isFree(wanted))) return wanted;
  const share = getShare();
  for (;;) {
    if (chosen.size >= PORTS.inShare) throw new Error("this process has chosen all of its ports");
    const port = PORTS.first + share * PORTS.inShare + randomInt(PORTS.inShare);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(port)) return port;
  }
}

function getShare(): number {
  return Number(env[SHARE] ?? env["VITEST_POOL_ID"] ?? 0) % PORTS.shares;
}

/** The environment of a process that is to choose from the share so many behind that of this one. */
export function shiftPorts(by: number): Readonly<Record<string, string>> {
  return { [SHARE]: String(getShare() + by) };
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(port, "127.0.0.1");
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the CLI as a user does, with a configuration folder of its own and no terminal. */
export async function runCli(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly configDirectory: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<CommandResult> {
  const child = spawn(execPath, [CLI, ...args], {
    cwd: options.cwd,
    env: { ...env, PLATFORM_CONFIG_DIR: options.configDirectory, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output.stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}
