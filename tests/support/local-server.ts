import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { expect, vi } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import { REPOSITORY } from "../../tools/platform-process.ts";

type Body = Readonly<Record<string, unknown>>;

interface LocalPool {
  readonly dataPoolId: string;
  readonly files: readonly { readonly name: string; readonly reference: object }[];
}

/** What it prints when it is ready. */
interface Printed {
  readonly url: string;
  readonly tryUrl: string;
  readonly dataPools: readonly LocalPool[];
}

/** `platform serve` on a free port. */
export interface LocalServer {
  /** Without a final slash. */
  readonly url: string;
  /** The page that tries the project. */
  readonly tryUrl: string;
  /** What it found when it started. */
  readonly dataPools: readonly LocalPool[];
  readonly start: (json: unknown) => Promise<Answer<Body>>;
  /** The result of the execution of this id, once it has ended. */
  readonly finish: (id: string) => Promise<Body>;
  /** Starts one, and its result. */
  readonly execute: (json: unknown) => Promise<Body>;
  /** Ctrl-C, and waits until it is gone. */
  readonly stop: () => Promise<void>;
}

const READY_WITHIN_MS = 180_000;

/** Serves a project as a user does. */
export async function startLocalServer(project: string, ...flags: readonly string[]): Promise<LocalServer> {
  const program = join(REPOSITORY, "packages/cli/bin/platform.js");
  const child = spawn(execPath, [program, "serve", "--port", "0", "--json", ...flags], {
    cwd: project,
    env: { ...env, PLATFORM_CONFIG_DIR: join(project, "..", "local") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
  };
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const readPrinted = () => JSON.parse(output) as Printed;
  const readUrl = () => readPrinted().url;
  try {
    // Also before the tests of a file, where nothing may be expected yet.
    await vi.waitFor(readUrl, { timeout: READY_WITHIN_MS, interval: 50 });
  } catch (error) {
    await stop();
    throw error;
  }
  const start = (json: unknown) => request<Body>("POST", `${readUrl()}/`, { json });
  const finish = async (id: string) => {
    const read = () => request<Body>("GET", `${readUrl()}/${id}/result`, {});
    await expect.poll(async () => (await read()).status, { timeout: READY_WITHIN_MS }).toBe(200);
    return (await read()).body;
  };
  return {
    ...readPrinted(),
    start,
    finish,
    execute: async (json) => finish(String((await start(json)).body["id"])),
    stop,
  };
}
