import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, stderr } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fetchAccessToken, request, subscribe } from "../../tools/platform-client.ts";
import type { Answer, StatusRecord, Subscription } from "../../tools/platform-client.ts";
import { PLATFORM_COMMAND, runCli, startPlatform } from "../../tools/platform-process.ts";
import type { CommandResult, Login, PlatformProcess, StartOptions } from "../../tools/platform-process.ts";
import { layDatabase } from "./prepared-database.ts";
import type { SmallDisk } from "./small-disk.ts";

const SECOND = 1_000;
/** Between two looks: asking fifty times a second takes a third of a processor from all that run beside. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
/** Characters of a platform's log that a failure ends with. */
const LOG_SAID = 1_400;

/** What a user of a platform works with. */
export interface Desk {
  /** For projects and other files. */
  readonly directory: string;
  readonly login: Login;
  readonly createProject: (
    name: string,
    program: string,
    files?: Readonly<Record<string, string>>,
  ) => Promise<string>;
  readonly cli: (cwd: string, ...args: string[]) => Promise<CommandResult>;
  /** `platform up --json` in a project; fails the test when it fails. */
  readonly deploy: (project: string, ...flags: string[]) => Promise<Deployed>;
  readonly subscribe: (serviceKey: string) => Promise<Consumer>;
  readonly api: <T = Readonly<Record<string, unknown>>>(
    method: string,
    path: string,
    json?: unknown,
  ) => Promise<Answer<T>>;
}

/** A platform of its own in a temporary folder, with everything a story needs; the desk is the first login's. */
export interface World extends Desk {
  readonly dataDirectory: string;
  readonly platform: PlatformProcess;
  /** More processes on the same data; they are stopped with the world. */
  readonly start: (options: Omit<StartOptions, "dataDirectory">) => Promise<PlatformProcess>;
  readonly close: () => Promise<void>;
}

interface Deployed {
  readonly serviceKey: string;
  readonly version: string;
  readonly changed: boolean;
}

/** An application with a subscription and an access token. */
export interface Consumer {
  readonly subscription: Subscription;
  readonly endpoint: string;
  readonly token: string;
  readonly call: <T = Readonly<Record<string, unknown>>>(
    method: string,
    path: string,
    options?: { readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<Answer<T>>;
  readonly start: (json: unknown) => Promise<Answer<StatusRecord>>;
  /** Polls until the state is final. */
  readonly finish: (id: string, withinSeconds?: number) => Promise<StatusRecord>;
}

export interface WorldOptions extends Pick<StartOptions, "role" | "flags" | "command" | "environment"> {
  /** The data directory lies on a disk of its own, which is gone with the platform's process. */
  readonly disk?: SmallDisk;
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "platform-story-"));
  await chmod(directory, 0o755);
  const dataDirectory = join(directory, "data");
  const processes: PlatformProcess[] = [];
  const start = async (given: Omit<StartOptions, "dataDirectory">) => {
    const started = await startPlatform({ ...given, dataDirectory });
    processes.push(started);
    return started;
  };
  const { disk, ...given } = options;
  if (disk) await mkdir(dataDirectory);
  // What has a command of its own is another user's, or a first start.
  else if (given.command === undefined && given.environment?.["DATABASE_URL"] === undefined)
    await layDatabase(dataDirectory);
  const platform = await start({
    ...given,
    ...(disk
      ? {
          command: [...disk.mountAt(dataDirectory), ...PLATFORM_COMMAND],
          bootstrapFile: join(directory, "bootstrap.json"),
        }
      : {}),
  });
  const desk = createDesk(directory, await platform.readLogin(), platform.readLog);
  return {
    ...desk,
    dataDirectory,
    platform,
    start,
    close: async () => {
      for (const running of processes.toReversed()) await running.stop();
      if (isKept())
        for (const [index, running] of processes.entries())
          await writeFile(join(directory, `platform-${index}.log`), running.readLog());
      await removeUnlessKept(directory);
    },
  };
}

/** @param readLog of the platform, for the error of a deployment that fails */
export function createDesk(directory: string, login: Login, readLog: () => string | Promise<string>): Desk {
  const cli = (cwd: string, ...args: string[]) =>
    runCli(args, {
      cwd,
      configDirectory: join(directory, "cli"),
      environment: {
        PLATFORM_ENDPOINT: login.apiUrl,
        PLATFORM_PERSONAL_ACCESS_TOKEN: login.personalAccessToken,
      },
    });
  return {
    directory,
    login,
    createProject: (name, program, files = {}) => createProject(join(directory, name), name, program, files),
    cli,
    deploy: async (project, ...flags) => {
      const result = await cli(project, "up", "--json", ...flags);
      if (result.code !== 0)
        throw new Error(`platform up failed:\n${result.stderr}${result.stdout}\n${await readLog()}`);
      return JSON.parse(result.stdout) as Deployed;
    },
    subscribe: async (serviceKey) => createConsumer(await subscribe(login, serviceKey, "story"), readLog),
    api: (method, path, json) =>
      request(method, `${login.apiUrl}/api${path}`, {
        token: login.personalAccessToken,
        ...(json === undefined ? {} : { json }),
      }),
  };
}

/** Whether the data of a test are kept for inspection (docs/development.md). */
const isKept = () => env["PLATFORM_TEST_KEEP"] !== undefined;

export async function removeUnlessKept(directory: string): Promise<void> {
  if (isKept()) stderr.write(`kept: ${directory}\n`);
  else await rm(directory, { recursive: true, force: true });
}

/** Writes a project whose `platform.json` has this name; the files may replace it. */
export async function createProject(
  directory: string,
  name: string,
  program: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const project = { name, runtime: "PYTHON_TEMPLATE", resources: { cpu: 0.25, memory: 0.25 } };
  const all = {
    "platform.json": JSON.stringify(project),
    "src/__init__.py": "",
    "src/program.py": program,
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  return directory;
}

async function createConsumer(
  subscription: Subscription,
  readLog: () => string | Promise<string>,
): Promise<Consumer> {
  const token = await fetchAccessToken(new URL(subscription.endpointUrl).origin, subscription);
  const endpoint = subscription.endpointUrl;
  const call: Consumer["call"] = (method, path, options = {}) =>
    request(method, `${endpoint}${path}`, { token, ...options });
  return {
    subscription,
    endpoint,
    token,
    call,
    start: (json) => call<StatusRecord>("POST", "", { json }),
    finish: async (id, withinSeconds = 180) => {
      const deadline = performance.now() + withinSeconds * SECOND;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        const { status, body } = await call<StatusRecord>("GET", id);
        if (status !== 200) throw new Error(`GET ${id} answered ${status}: ${JSON.stringify(body)}`);
        if (body.terminal) return body;
        if (performance.now() > deadline)
          throw new Error(`${id} is still ${body.status}:\n${(await readLog()).slice(-LOG_SAID)}`);
        await delay(pauseMs);
      }
    },
  };
}

/** The command lines of the processes that name a path, e.g. a platform and its PostgreSQL by their data directory. */
export async function findProcesses(path: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((name) => readFile(join("/proc", name, "cmdline"), "utf8").catch(() => "")),
  );
  return lines.map((line) => line.replaceAll("\0", " ")).filter((line) => line.includes(path));
}
