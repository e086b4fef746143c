import { createHash, randomBytes } from "node:crypto";
import { access, chmod, mkdir, readdir, readlink, rm, stat, symlink, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../files/remove-tree.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import { findAccessFault } from "./access.ts";
import type { SystemUser } from "./access.ts";
import { buildEnvironment, getEnvironmentFolder, getEnvironmentPython } from "./build-environment.ts";
import { createBuildLog } from "./build-log.ts";
import type { BuildLog } from "./build-log.ts";
import type { Interpreter } from "./interpreter.ts";
import { formatBytes } from "../project/limits.ts";
import { getSystemCode, ProjectError } from "../project/project-error.ts";
import { readRequirements } from "./requirements.ts";
import type { Requirements } from "./requirements.ts";
import { syncTree } from "../files/sync-tree.ts";
import { exceeds, watchSize } from "./watch-size.ts";
import type { TreeLimits } from "./watch-size.ts";

/*
 * Environments live below `<directory>/environments`:
 *
 *   <key>-<random>/venv    (<key> is v<format>-<hash>) one build, made where it stays; removed again when it fails
 *   <key>-<random>.log     its log
 *   <key>                  a symbolic link to the build that serves the key: its creation is what finishes a build
 *
 * Creating the link either works or finds another's: so two processes may build the same key, the second throws its own away, and neither
 * needs a lock that could go stale. A build that died with its process has no link; it is swept when it is too old to be still running.
 */

/** What a version runs in. */
export interface Environment {
  /** `v<format>-<SHA-256 in hex>`: equal keys need, and share, the same environment. */
  readonly key: string;
  /** The Python executable to start. */
  readonly interpreter: string;
  /** What a sandbox must show besides the system directories. */
  readonly readablePaths: readonly string[];
  /** The log of the build; null when there was nothing to install. */
  readonly logFile: string | null;
}

export interface EnsureOptions {
  /** Whose environment it is: the organisation's id. Another owner gets it only when it was made of wheels that are pinned by hash. */
  readonly owner: string;
  /** Called for each line of the build's log; also when another caller's build is joined. */
  readonly onLog?: (line: string) => void;
  /** Gives up waiting; the build itself is killed when nobody waits for it any more. */
  readonly signal?: AbortSignal;
}

export interface EnvironmentBuilder {
  /**
   * The environment for a project, built unless it exists.
   *
   * @throws ProjectError INVALID_PROJECT, BUILD_FAILED, BUILD_TIMEOUT, BUILD_CANCELLED
   */
  readonly ensure: (projectDirectory: string, options: EnsureOptions) => Promise<Environment>;
  /** Kills running builds and waits for their folders to be removed. */
  readonly close: () => Promise<void>;
}

export interface EnvironmentBuilderOptions {
  /** Where environments are kept. Every folder above it must be open (o+x) to the users of sandbox and build. */
  readonly directory: string;
  readonly interpreter: Interpreter;
  /** Null or missing: venv and pip. */
  readonly uv?: TrustedExecutable | null;
  /** Null or missing: all code is trusted, builds see what their user sees. */
  readonly bubblewrap?: TrustedExecutable | null;
  /** Used when this process is root. It must own nothing and run nothing else. */
  readonly buildUser?: SystemUser;
  /** Hidden from builds, besides `directory`: the platform's data. Needs bubblewrap. */
  readonly hidden?: readonly string[];
  /** The host's variables; only those that say how to reach the package index are passed on. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds for one build. */
  readonly timeout?: number;
  /** What one environment may hold, its build's files included. */
  readonly sizeLimits?: TreeLimits;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DEFAULT_TIMEOUT = 15 * MINUTE;
const GIB = 1024 ** 3;
/** The largest frameworks for machine learning take about 7 GB. */
const DEFAULT_SIZE_LIMITS: TreeLimits = { bytes: 10 * GIB, entries: 500_000 };

/** Part of every name: raise it when environments are built in another way, so that old ones are not used and can be told apart. */
const FORMAT = "v2";

/** One environment that is asked for. */
interface Wanted {
  readonly projectDirectory: string;
  readonly requirements: Requirements;
  readonly key: string;
  /** Null: everybody's, and nothing that anybody could have influenced; no package runs code of its own while it is installed. */
  readonly owner: string | null;
}

interface Flight {
  readonly result: Promise<Environment>;
  readonly log: BuildLog;
  readonly controller: AbortController;
  waiting: number;
}

/** Creates the environment builder of one process; several processes may share a directory. */
export function createEnvironmentBuilder(options: EnvironmentBuilderOptions): EnvironmentBuilder {
  const settings = createSettings(options);
  const flights = new Map<string, Flight>();
  let closed = false;

  async function ensure(projectDirectory: string, options: EnsureOptions): Promise<Environment> {
    const { owner } = options;
    const requirements = await readRequirements(projectDirectory, settings.interpreter);
    if (requirements === null) return describeBase(settings.interpreter);
    const { interpreter } = settings;
    const own = { projectDirectory, requirements, owner, key: createKey(interpreter, requirements, owner) };
    if (!requirements.isPinned) return provide(own, options);
    const shared = { ...own, owner: null, key: createKey(interpreter, requirements, null) };
    const existing =
      (await findEnvironment(settings, shared.key)) ?? (await findEnvironment(settings, own.key));
    if (existing !== null) return existing;
    try {
      return await provide(shared, options);
    } catch (error) {
      if (!(error instanceof ProjectError) || error.code !== "BUILD_FAILED") throw error;
      options.onLog?.("From wheels alone it could not be installed; trying again with sources");
      return provide(own, options);
    }
  }

  async function provide(wanted: Wanted, options: Omit<EnsureOptions, "owner">): Promise<Environment> {
    const { onLog, signal } = options;
    const { key } = wanted;
    const existing = flights.has(key) ? null : await findEnvironment(settings, key);
    if (existing !== null) return existing;
    if (signal?.aborted === true) throw createCancelled();
    const flight = flights.get(key) ?? (await takeOff(wanted));
    if (!flight.controller.signal.aborted) return waitFor(flight, onLog, signal);
    // The others gave it up: it ends now, and this caller begins anew.
    await flight.result.catch(() => undefined);
    return provide(wanted, options);
  }

  async function takeOff(wanted: Wanted): Promise<Flight> {
    const { key } = wanted;
    await prepareDirectory(settings);
    // Another caller may have begun while this one prepared.
    const other = flights.get(key);
    if (other !== undefined) return other;
    if (closed) throw createCancelled();
    const name = `${key}-${randomBytes(6).toString("hex")}`;
    const log = createBuildLog(join(settings.environments, `${name}.log`));
    const controller = new AbortController();
    const result = runBuild(settings, { ...wanted, name, log, controller });
    const flight: Flight = { result: result.finally(() => flights.delete(key)), log, controller, waiting: 0 };
    // Everyone who waits sees the failure; when nobody does any more, it must not count as unhandled.
    flight.result.catch(() => undefined);
    flights.set(key, flight);
    return flight;
  }

  return {
    ensure,
    async close() {
      closed = true;
      const running = [...flights.values()];
      for (const flight of running) flight.controller.abort(createCancelled());
      await Promise.allSettled(running.map((flight) => flight.result));
    },
  };
}

async function waitFor(
  flight: Flight,
  onLog: ((line: string) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<Environment> {
  flight.waiting += 1;
  const unfollow = onLog === undefined ? undefined : flight.log.follow(onLog);
  const listening = new AbortController();
  const gaveUp = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => {
      flight.waiting -= 1;
      if (flight.waiting > 0) reject(createCancelled());
      // The last one to leave stops the build, and waits until its folder is gone.
      else flight.controller.abort(createCancelled());
    };
    signal?.addEventListener("abort", giveUp, { once: true, signal: listening.signal });
    if (signal?.aborted === true) giveUp();
  });
  try {
    return await Promise.race([flight.result, gaveUp]);
  } finally {
    listening.abort();
    unfollow?.();
  }
}

interface Settings {
  readonly directory: string;
  readonly environments: string;
  readonly interpreter: Interpreter;
  readonly uv: TrustedExecutable | null;
  readonly bubblewrap: TrustedExecutable | null;
  readonly user: SystemUser | null;
  readonly hidden: readonly string[];
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  readonly keepsDownloads: boolean;
  readonly timeout: number;
  readonly sizeLimits: TreeLimits;
}

function createSettings(options: EnvironmentBuilderOptions): Settings {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? (options.buildUser ?? null) : null;
  return {
    directory: options.directory,
    environments: join(options.directory, "environments"),
    interpreter: options.interpreter,
    uv: options.uv ?? null,
    // As root it would map the inner user to root; without a user to become, builds are trusted anyway.
    bubblewrap: isRoot && user === null ? null : (options.bubblewrap ?? null),
    user,
    hidden: [options.directory, ...(options.hidden ?? [])],
    hostVariables: options.variables ?? {},
    keepsDownloads: user === null,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    sizeLimits: options.sizeLimits ?? DEFAULT_SIZE_LIMITS,
  };
}

async function prepareDirectory(settings: Settings): Promise<void> {
  for (const folder of [settings.directory, settings.environments]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
  if (settings.user !== null) {
    const fault = await findAccessFault(settings.environments, settings.user, true);
    if (fault !== null) throw new Error(`Environments cannot be built: ${fault}`);
  }
  await sweep(settings);
}

interface Build extends Wanted {
  readonly name: string;
  readonly log: BuildLog;
  readonly controller: AbortController;
}

async function runBuild(settings: Settings, build: Build): Promise<Environment> {
  const directory = join(settings.environments, build.name);
  const { controller } = build;
  const timer = setTimeout(() => controller.abort(createTimeout(settings.timeout)), settings.timeout);
  const tooLarge = createTooLarge(settings.sizeLimits);
  const stopWatching = watchSize(directory, settings.sizeLimits, () => controller.abort(tooLarge));
  try {
    await mkdir(directory);
    await chmod(directory, 0o755);
    const cacheDirectory = await makeCache(settings, build.owner);
    await buildEnvironment({
      ...settings,
      ...build,
      directory,
      cacheDirectory,
      wheelsOnly: build.owner === null,
      signal: controller.signal,
    });
    controller.signal.throwIfAborted();
    if (await exceeds(directory, settings.sizeLimits)) throw tooLarge;
    await build.log.close();
    // The link makes the environment count, for good: after a power cut it must not lead to half of one.
    await syncTree(directory, controller.signal);
    return await publish(settings, build);
  } catch (error) {
    await build.log.close();
    await removeBuild(settings, build.name);
    throw error;
  } finally {
    stopWatching();
    clearTimeout(timer);
  }
}

/** Builds run code of their owner and write to it: what one leaves there, another would install. So each owner has one. */
async function makeCache(
  { directory, keepsDownloads }: Settings,
  owner: string | null,
): Promise<string | null> {
  if (!keepsDownloads || owner === null) return null;
  const cache = join(directory, "cache", createHash("sha256").update(owner).digest("hex").slice(0, 32));
  await mkdir(cache, { recursive: true, mode: 0o700 });
  return cache;
}

async function publish(settings: Settings, build: Build): Promise<Environment> {
  const link = join(settings.environments, build.key);
  for (;;) {
    try {
      await symlink(build.name, link);
      return describe(settings, build.key, build.name);
    } catch (error) {
      if (getSystemCode(error) !== "EEXIST") throw error;
    }
    const winner = await findEnvironment(settings, build.key);
    if (winner === null) continue;
    await removeBuild(settings, build.name);
    return winner;
  }
}

async function findEnvironment(settings: Settings, key: string): Promise<Environment | null> {
  const link = join(settings.environments, key);
  try {
    const name = await readlink(link);
    const now = new Date();
    // Said before it is relied on: the collector spares what is used (remove-unused.ts).
    await utimes(join(settings.environments, name), now, now);
    await access(getEnvironmentPython(join(settings.environments, name)));
    return describe(settings, key, name);
  } catch (error) {
    if (getSystemCode(error) !== "ENOENT") throw error;
    // A link to a build that was removed by hand, or whose interpreter is gone, must not stand in the way of the next.
    await unlink(link).catch(() => undefined);
    return null;
  }
}

/** A build's folder or log; group 1 names the build, group 2 its key. Keys before v2 had no format. */
const BUILD_NAME = /^(((?:v\d+-)?[0-9a-f]{64})-[0-9a-f]+)(?:\.log)?$/;

/** Removes what builds left behind whose process died. */
async function sweep(settings: Settings): Promise<void> {
  const names = await readdir(settings.environments);
  const oldest = Date.now() - 2 * settings.timeout;
  for (const name of names) {
    const [, build, key] = BUILD_NAME.exec(name) ?? [];
    if (build === undefined || key === undefined) continue;
    const target = await readlink(join(settings.environments, key)).catch(() => null);
    if (target === build) continue;
    const modified = await stat(join(settings.environments, name)).catch(() => null);
    if (modified === null || modified.mtimeMs >= oldest) continue;
    // What cannot be removed must not stand in the way of other builds.
    await removeBuild(settings, build).catch(() => undefined);
  }
}

async function removeBuild(settings: Settings, name: string): Promise<void> {
  await removeTree(join(settings.environments, name));
  await rm(join(settings.environments, `${name}.log`), { force: true });
}

/**
 * Wheels that are pinned by hash are the same bytes for everybody. All else may be what its owner wanted it to be; so may what is built from
 * a pinned source, by tools that nobody pinned.
 */
function createKey(interpreter: Interpreter, requirements: Requirements, owner: string | null): string {
  const { text, constraints, content, requiresHashes } = requirements;
  return hashKey([
    [interpreter.executable.path, interpreter.version, process.platform, process.arch],
    owner === null ? [null, "wheels"] : [owner],
    [text, constraints, content, requiresHashes],
  ]);
}

/** JSON keeps the parts apart, whatever they contain. */
function hashKey(parts: readonly unknown[]): string {
  return `${FORMAT}-${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

function describe(settings: Settings, key: string, name: string): Environment {
  const directory = join(settings.environments, name);
  return {
    key,
    interpreter: getEnvironmentPython(directory),
    readablePaths: [getEnvironmentFolder(directory), ...settings.interpreter.readablePaths],
    logFile: `${directory}.log`,
  };
}

function describeBase(interpreter: Interpreter): Environment {
  const { executable, version, readablePaths } = interpreter;
  return {
    key: hashKey([executable.path, version]),
    interpreter: executable.path,
    readablePaths,
    logFile: null,
  };
}

function createTooLarge({ bytes, entries }: TreeLimits): ProjectError {
  return new ProjectError(
    "BUILD_FAILED",
    `The installed requirements take more than ${formatBytes(bytes)} or ${entries} files, the limit for one environment`,
  );
}

function createCancelled(): ProjectError {
  return new ProjectError("BUILD_CANCELLED", "The build was cancelled");
}

function createTimeout(timeout: number): ProjectError {
  return new ProjectError(
    "BUILD_TIMEOUT",
    `The build took longer than ${Math.round(timeout / SECOND)} seconds`,
  );
}
